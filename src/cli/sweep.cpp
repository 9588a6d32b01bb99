#include "cli/sweep.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/error.hpp"

namespace cosmic::cli {
namespace {

constexpr std::size_t kMostJobs = 1000;

/// At commas that are in no brackets and no quotes.
std::vector<std::string> values_of(std::string_view text) {
  std::vector<std::string> values(1);
  int open = 0;
  char quote = 0;
  for (const char letter : text) {
    if (quote != 0) {
      quote = letter == quote ? '\0' : quote;
    } else if (letter == '\'' || letter == '"') {
      quote = letter;
    } else {
      open += letter == '[' ? 1 : letter == ']' ? -1 : 0;
    }
    if (letter == ',' && open == 0 && quote == 0) {
      values.emplace_back();
    } else {
      values.back() += letter;
    }
  }
  return values;
}

bool is_setting_of(const std::string& word, std::string_view key) {
  return word.starts_with(std::string(key) + "=");
}

/// The job's own place: no two write into one folder.
void name_job(SweepJob& job, std::size_t number) {
  for (std::string& word : job.words) {
    if (is_setting_of(word, "run.id")) {
      word += "-" + std::to_string(number);
    } else if (is_setting_of(word, "output_dir")) {
      word += (word.ends_with('/') ? "" : "/") + std::to_string(number);
    }
  }
}

}  // namespace

std::vector<SweepJob> sweep_jobs(const std::vector<std::string>& words) {
  std::vector<SweepJob> jobs(1);
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool setting = !word.starts_with('-') && equals != std::string::npos;
    const std::vector<std::string> values =
        setting ? values_of(std::string_view(word).substr(equals + 1)) : std::vector{word};
    COSMIC_REQUIRE(UserError, jobs.size() * values.size() <= kMostJobs,
                   "a sweep of more than " << kMostJobs << " trainings (" << word
                                           << " is one setting too many); vary fewer values");
    std::vector<SweepJob> more;
    for (const SweepJob& job : jobs) {
      for (const std::string& value : values) {
        SweepJob next = job;
        next.words.push_back(setting ? word.substr(0, equals + 1) + value : value);
        if (values.size() > 1) {
          next.changed.push_back(next.words.back());
        }
        more.push_back(std::move(next));
      }
    }
    jobs = std::move(more);
  }
  COSMIC_REQUIRE(UserError, jobs.size() > 1,
                 "--multirun without values to vary (it makes a training of every combination); "
                 "separate the values of a setting by commas, such as run.seed=1,2,3, or leave "
                 "--multirun out");
  COSMIC_REQUIRE(UserError,
                 std::any_of(words.begin(), words.end(),
                             [](const std::string& word) {
                               return is_setting_of(word, "run.id") ||
                                      is_setting_of(word, "output_dir");
                             }),
                 "--multirun without run.id (each training takes a folder of its own after it); "
                 "give one such as run.id=sweep");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    name_job(jobs[i], i);
  }
  return jobs;
}

}  // namespace cosmic::cli
