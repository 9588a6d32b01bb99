#include "infer/prediction_files.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/error.hpp"
#include "core/make_folder.hpp"
#include "data/larcv/predictions.hpp"
#include "run/output_folder.hpp"

namespace cosmic::infer {
namespace {

/// What an earlier inference may have left in an input.
const std::array<data::larcv::ProductName, 2>& earlier_predictions() {
  static const std::array<data::larcv::ProductName, 2> names{
      data::larcv::ProductName{std::string(data::larcv::kSparse2d), data::larcv::kCosmicPrediction},
      data::larcv::ProductName{std::string(data::larcv::kSparse2d),
                               data::larcv::kNeutrinoPrediction}};
  return names;
}

/// The deepest folder that has all files in it.
std::filesystem::path common_folder(const std::vector<data::SourcePart>& parts) {
  const auto folder_of = [](const data::SourcePart& part) {
    return std::filesystem::absolute(part.name).lexically_normal().parent_path();
  };
  std::filesystem::path common = folder_of(parts.front());
  for (const data::SourcePart& part : parts) {
    const std::filesystem::path folder = folder_of(part);
    const auto differ = std::mismatch(common.begin(), common.end(), folder.begin(), folder.end());
    std::filesystem::path shared;
    for (auto name = common.begin(); name != differ.first; ++name) {
      shared /= *name;
    }
    common = shared;
  }
  return common;
}

std::filesystem::path name_in(const std::filesystem::path& folder, const data::SourcePart& part) {
  return std::filesystem::absolute(part.name).lexically_normal().lexically_relative(folder);
}

bool names_folder(const std::filesystem::path& path) {
  return !path.empty() && (!path.has_filename() || std::filesystem::is_directory(path));
}

PredictionFile one_for_all(const std::filesystem::path& path, const data::EventSource& source,
                           const Range& entries) {
  const bool whole = entries.size() == source.size();
  return {path, entries, whole ? source.parts() : std::vector<data::SourcePart>{}};
}

std::vector<PredictionFile> one_for_each(const std::filesystem::path& folder,
                                         const data::EventSource& source, const Range& entries) {
  const std::vector<data::SourcePart> parts = source.parts();
  const std::filesystem::path common = common_folder(parts);
  const bool all = entries.size() == source.size();
  std::vector<PredictionFile> files;
  for (const data::SourcePart& part : parts) {
    const Range wanted{std::max(part.begin, entries.begin), std::min(part.end, entries.end)};
    if (wanted.empty() && !all) {
      continue;
    }
    PredictionFile file{folder / name_in(common, part), wanted, {}};
    if (wanted.size() == part.end - part.begin) {
      file.copied = {part};
    }
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

std::vector<PredictionFile> prediction_files(const config::Configuration& configuration,
                                             const std::filesystem::path& folder,
                                             const data::EventSource& source,
                                             const Range& entries) {
  const std::filesystem::path given = configuration.mode.output_file;
  const bool several = source.parts().size() > 1;
  if (names_folder(given)) {
    return one_for_each(given, source, entries);
  }
  if (!given.empty() || !several) {
    return {one_for_all(given.empty() ? folder / "predictions.h5" : given, source, entries)};
  }
  return one_for_each(folder / "predictions", source, entries);
}

PredictionWriter::PredictionWriter(std::vector<PredictionFile> files, Existing existing,
                                   output::RunLog& log)
    : files_(std::move(files)), existing_(existing), log_(log) {
  if (!files_.empty()) {
    open();
  }
}

void PredictionWriter::open() {
  const PredictionFile& file = files_[current_];
  if (file.path.has_parent_path()) {
    make_folder(file.path.parent_path(), "output_dir");
  }
  joined_.reset();
  writer_.emplace(file.path, data::larcv::EventFileWriterOptions{.existing = existing_});
  if (file.copied.size() == 1) {
    warn_of(writer_->copy_products(file.copied.front().name, earlier_predictions()));
  } else if (!file.copied.empty()) {
    std::vector<std::filesystem::path> inputs;
    for (const data::SourcePart& part : file.copied) {
      inputs.emplace_back(part.name);
    }
    joined_.emplace(std::move(inputs), earlier_predictions());
    for (const data::larcv::ProductName& product : joined_->left_out()) {
      log_.warning(file.path.string() + " is without the products '" + product.type + "_" +
                   product.producer + "' of its inputs, a type that this program does not read.");
    }
  } else {
    log_.info(file.path.string() + " has " + std::to_string(file.entries.size()) +
              " events, not all of its input, so it has their predictions without the other "
              "products.");
  }
}

void PredictionWriter::warn_of(const std::vector<data::larcv::LeftOut>& left_out) {
  constexpr std::size_t kNamed = 20;
  const PredictionFile& file = files_[current_];
  if (left_out.empty()) {
    return;
  }
  log_.warning(file.path.string() + " does not have everything that " + file.copied.front().name +
               " has; left out: " + std::to_string(left_out.size()) + ".");
  for (std::size_t i = 0; i < std::min(left_out.size(), kNamed); ++i) {
    log_.warning("Left out: " + left_out[i].what + ": " + left_out[i].why + ".");
  }
}

void PredictionWriter::commit_open_file() {
  writer_->commit();
  writer_.reset();
  if (++current_ < files_.size()) {
    open();
  }
}

void PredictionWriter::write(const EventPredictions& event) {
  while (event.entry >= files_.at(current_).entries.end) {
    commit_open_file();
  }
  writer_->begin_event(event.id);
  if (joined_) {
    const std::vector<data::SourcePart>& parts = files_[current_].copied;
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const data::SourcePart& one) {
      return event.entry < one.end;
    });
    joined_->copy(static_cast<std::size_t>(part - parts.begin()), event.entry - part->begin,
                  *writer_);
  }
  writer_->write_sparse(data::larcv::kCosmicPrediction, event.cosmic);
  writer_->write_sparse(data::larcv::kNeutrinoPrediction, event.neutrino);
}

void PredictionWriter::commit() {
  while (writer_) {
    commit_open_file();
  }
}

}  // namespace cosmic::infer
