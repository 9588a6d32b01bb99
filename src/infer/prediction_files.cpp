#include "infer/prediction_files.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "core/make_folder.hpp"
#include "data/larcv/predictions.hpp"
#include "run/output_folder.hpp"

namespace cosmic::infer {
namespace {

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

/// `a.h5` as `a.word.h5`.
std::filesystem::path with_word(const std::filesystem::path& file, const std::string& word) {
  std::filesystem::path name = file.stem();
  name += "." + word;
  name += file.extension();
  return file.parent_path() / name;
}

/// Adds what the planes of an event say.
void count(const data::SparseImage& tags, Findings& findings) {
  std::int64_t neutrino = 0;
  for (const data::SparsePlane& plane : tags) {
    findings.pixels += static_cast<std::int64_t>(plane.values.size());
    findings.cosmic_pixels += std::count(plane.values.begin(), plane.values.end(),
                                         static_cast<float>(data::Label::cosmic));
    neutrino += std::count(plane.values.begin(), plane.values.end(),
                           static_cast<float>(data::Label::neutrino));
  }
  findings.neutrino_pixels += neutrino;
  findings.events_with_neutrino += neutrino > 0 ? 1 : 0;
  ++findings.events;
}

PredictionFile one_for_all(const std::filesystem::path& path, const data::EventSource& source,
                           const Range& entries) {
  PredictionFile file{path, entries, source.parts()};
  if (entries.size() < source.size()) {
    std::erase_if(file.inputs, [&](const data::SourcePart& part) {
      return part.end <= entries.begin || part.begin >= entries.end;
    });
  }
  return file;
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
    files.push_back({folder / name_in(common, part), wanted, {part}});
  }
  return files;
}

}  // namespace

std::vector<PredictionFile> prediction_files(const config::Configuration& configuration,
                                             const FilePlaces& places,
                                             const data::EventSource& source,
                                             const Range& entries) {
  const std::filesystem::path given = configuration.mode.output_file;
  const bool several = source.parts().size() > 1;
  std::vector<PredictionFile> files;
  if (names_folder(given)) {
    files = one_for_each(given, source, entries);
  } else if (!given.empty()) {
    files = {one_for_all(given, source, entries)};
  } else if (places.placement == Placement::beside_inputs) {
    files = one_for_each(common_folder(source.parts()), source, entries);
    for (PredictionFile& file : files) {
      file.path = with_word(file.inputs.front().name, "tagged");
    }
  } else if (several) {
    files = one_for_each(places.folder / "predictions", source, entries);
  } else {
    files = {one_for_all(places.folder / "predictions.h5", source, entries)};
  }
  if (const std::string shard = places.shard.name(); !shard.empty()) {
    for (PredictionFile& file : files) {
      file.path = with_word(file.path, shard);
    }
  }
  return files;
}

PredictionWriter::PredictionWriter(std::vector<PredictionFile> files,
                                   std::map<std::string, std::string> provenance, Existing existing,
                                   output::RunLog& log)
    : files_(std::move(files)), provenance_(std::move(provenance)), existing_(existing), log_(log) {
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
  findings_.push_back({.file = file.path});
  writer_.emplace(file.path, data::larcv::EventFileWriterOptions{.existing = existing_});
  if (file.is_copy()) {
    warn_of(writer_->copy_products(file.inputs.front().name, data::larcv::prediction_products()));
  } else if (!file.inputs.empty()) {
    std::vector<std::filesystem::path> inputs;
    for (const data::SourcePart& part : file.inputs) {
      inputs.emplace_back(part.name);
    }
    joined_.emplace(std::move(inputs), data::larcv::prediction_products());
    for (const data::larcv::ProductName& product : joined_->left_out()) {
      log_.warning(file.path.string() + " is without the products '" + product.type + "_" +
                   product.producer + "' of its inputs, a type that this program does not read.");
    }
  }
}

void PredictionWriter::warn_of(const std::vector<data::larcv::LeftOut>& left_out) {
  constexpr std::size_t kNamed = 20;
  const PredictionFile& file = files_[current_];
  if (left_out.empty()) {
    return;
  }
  log_.warning(file.path.string() + " does not have everything that " + file.inputs.front().name +
               " has; left out: " + std::to_string(left_out.size()) + ".");
  for (std::size_t i = 0; i < std::min(left_out.size(), kNamed); ++i) {
    log_.warning("Left out: " + left_out[i].what + ": " + left_out[i].why + ".");
  }
}

void PredictionWriter::commit_open_file() {
  for (const data::larcv::ProductName& product : data::larcv::prediction_products()) {
    writer_->describe(product, provenance_);
  }
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
    const std::vector<data::SourcePart>& parts = files_[current_].inputs;
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const data::SourcePart& one) {
      return event.entry < one.end;
    });
    joined_->copy(static_cast<std::size_t>(part - parts.begin()), event.entry - part->begin,
                  *writer_);
  }
  writer_->write_sparse(data::larcv::kCosmicPrediction, event.cosmic);
  writer_->write_sparse(data::larcv::kNeutrinoPrediction, event.neutrino);
  count(event.stored ? event.stored->tag : event.tags(), findings_.back());
  if (event.stored) {
    writer_->write_sparse(data::larcv::kPixelTag, event.stored->tag);
    writer_->write_sparse(data::larcv::kPixelCosmic, event.stored->cosmic);
    writer_->write_sparse(data::larcv::kPixelNeutrino, event.stored->neutrino);
  }
}

void PredictionWriter::commit() {
  while (writer_) {
    commit_open_file();
  }
}

}  // namespace cosmic::infer
