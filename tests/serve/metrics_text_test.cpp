// The page of metrics, read as strictly as Prometheus reads it: its text format, version 0.0.4.
#include "serve/metrics_text.hpp"

#include <gmock/gmock.h>

#include <charconv>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "serve/http/inference_routes.hpp"
#include "serve/served_tiny.hpp"

namespace cosmic::serve::http {
namespace {

/// What a reader keeps of a family of metrics.
struct Family {
  std::string type;
  std::map<std::string, double> samples;  ///< by name and labels
};

/// Reads line by line and complains about whatever the format does not allow.
std::map<std::string, Family> read_strictly(const std::string& page) {
  static const std::regex comment("# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
  static const std::regex sample(
      "([a-zA-Z_:][a-zA-Z0-9_:]*)"
      "(\\{[a-zA-Z_][a-zA-Z0-9_]*=\"[^\"\\\\\\n]*\"(,[a-zA-Z_][a-zA-Z0-9_]*=\"[^\"\\\\\\n]*\")*\\})"
      "?"
      " ([0-9.e+-]+)");
  std::map<std::string, Family> families;
  std::set<std::string> helped;
  std::string current;
  EXPECT_TRUE(page.ends_with("\n"));
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_match(line, found, comment)) {
      const std::string name = found[2];
      if (found[1] == "HELP") {
        EXPECT_TRUE(helped.insert(name).second) << name << " is explained twice";
        EXPECT_FALSE(families.contains(name)) << name << " is explained after its type";
      } else {
        EXPECT_TRUE(families.emplace(name, Family{found[3], {}}).second) << name << " twice";
        current = name;
      }
    } else if (std::regex_match(line, found, sample)) {
      std::string family = found[1];
      if (families[current].type == "histogram") {
        family = std::regex_replace(family, std::regex("_(bucket|sum|count)$"), "");
      }
      EXPECT_EQ(family, current) << "a sample among those of another family";
      const std::string number = found[4];
      double value = -1;
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), value);
      EXPECT_TRUE(error == std::errc() && end == number.data() + number.size()) << line;
      EXPECT_GE(value, 0) << line;
      EXPECT_TRUE(families[current].samples.emplace(found[1].str() + found[2].str(), value).second)
          << line << " is there twice";
    } else {
      ADD_FAILURE() << "'" << line << "' is no line of the format";
    }
  }
  return families;
}

/// Buckets of one model, by their bounds, and how many there are in all.
void expect_buckets_that_grow(const Family& family, const std::string& name,
                              const std::string& labels) {
  static const std::regex bound("le=\"([^\"]+)\"");
  std::map<double, double> buckets;
  for (const auto& [sample, value] : family.samples) {
    std::smatch found;
    if (sample.starts_with(name + "_bucket{" + labels) && std::regex_search(sample, found, bound)) {
      buckets[found[1] == "+Inf" ? HUGE_VAL : std::stod(found[1])] = value;
    }
  }
  ASSERT_GT(buckets.size(), 2U);
  double below = 0;
  for (const auto& [at, value] : buckets) {
    EXPECT_GE(value, below) << "up to " << at;
    below = value;
  }
  ASSERT_EQ(buckets.rbegin()->first, HUGE_VAL);
  EXPECT_EQ(below, family.samples.at(name + "_count{" + labels + "}"));
  EXPECT_TRUE(family.samples.contains(name + "_sum{" + labels + "}"));
}

TEST(MetricsText, is_taken_by_a_strict_reader_of_the_format) {
  ServedTiny served;
  InferenceRoutes routes(served.service());
  ManagementRoutes management(served.service(), ModelControl::none, [] {
    return ServerGauges{3, 1, 2, std::size_t{5} << 40};
  });
  Head ask;
  ask.method = "POST";
  ask.path = "/v2/models/tiny/infer";
  for (const char* const body :
       {R"({"inputs":[{"name":"image","datatype":"FP32","shape":[0,3,16,32],"data":[]}]})", "no",
        R"({"inputs":[{"name":"plane","datatype":"UINT8","shape":[1],"data":[0]},
           {"name":"index","datatype":"INT64","shape":[1],"data":[5]},
           {"name":"charge","datatype":"FP32","shape":[1],"data":[2.5]}]})"}) {
    routes.answer(ask, body, [] { return false; });
  }
  Head scrape;
  scrape.method = "GET";
  scrape.path = "/metrics";
  const Answer page = management.answer(scrape, "", [] { return false; });
  EXPECT_EQ(page.type, "text/plain; version=0.0.4");
  const std::map<std::string, Family> families = read_strictly(page.body);
  const std::string model = "model=\"tiny\",version=\"2\"";
  EXPECT_EQ(families.at("nv_inference_request_success").type, "counter");
  EXPECT_GE(families.at("nv_inference_request_success")
                .samples.at("nv_inference_request_success{" + model + "}"),
            1);
  EXPECT_EQ(families.at("cosmic_request_body_bytes").samples.at("cosmic_request_body_bytes"),
            static_cast<double>(std::size_t{5} << 40));
  for (const auto& [name, family] : families) {
    EXPECT_TRUE(family.type == "counter" || family.type == "gauge" || family.type == "histogram")
        << name << ": " << family.type;
  }
  expect_buckets_that_grow(families.at("cosmic_request_duration_seconds"),
                           "cosmic_request_duration_seconds", model);
}

}  // namespace
}  // namespace cosmic::serve::http
