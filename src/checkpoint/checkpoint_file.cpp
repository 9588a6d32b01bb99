#include "checkpoint/checkpoint_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>

#include "checkpoint/zip_archive.hpp"
#include "core/config.hpp"
#include "core/content_hash.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "session/safetensors.hpp"

namespace cosmic::checkpoint {
namespace {

// Keys of the metadata. A change of their meaning is a new format.
constexpr const char* kFormatKey = "format";
constexpr const char* kFormat = "cosmictagger checkpoint 1";
constexpr const char* kWeightsFormat = "cosmictagger weights 1";
constexpr std::string_view kAnyFormat = "cosmictagger ";
constexpr const char* kStepKey = "step";
constexpr const char* kConfigurationKey = "configuration";
constexpr const char* kChecksumKey = "checksum";
constexpr std::string_view kNotePrefix = "note.";

struct Field {
  const char* key;
  std::string RunRecord::*text;
};
constexpr Field kFields[] = {
    {kConfigurationKey, &RunRecord::configuration},
    {"schedule", &RunRecord::schedule},
    {"random", &RunRecord::random},
    {"loader", &RunRecord::loader},
    {"data_fingerprint", &RunRecord::data_fingerprint},
    {"program", &RunRecord::program},
};

/// What ContentHash::add does with bytes, in blocks that `check` finds in the cache.
void add_numbers(const std::string& name, const session::Tensor& tensor, ContentHash& hash,
                 FiniteCheck& check) {
  constexpr std::size_t kBlockBytes = 1 << 14;
  std::span<const std::byte> bytes = tensor.bytes;
  hash.add(static_cast<std::uint64_t>(bytes.size()));
  while (!bytes.empty()) {
    const std::span<const std::byte> block = bytes.first(std::min(kBlockBytes, bytes.size()));
    std::size_t at = 0;
    std::uint64_t word = 0;
    for (; at + sizeof(word) <= block.size(); at += sizeof(word)) {
      std::memcpy(&word, block.data() + at, sizeof(word));
      hash.add(word);
    }
    if (at < block.size()) {
      word = 0;
      std::memcpy(&word, block.data() + at, block.size() - at);
      hash.add(word);
    }
    if (tensor.type.dtype == graph::DType::f32) {
      check.add(name, {reinterpret_cast<const float*>(block.data()), block.size() / sizeof(float)});
    }
    bytes = bytes.subspan(block.size());
  }
}

/// Over every tensor's name, type and bytes and all of the metadata but the checksum itself.
std::string checksum(const session::TensorSource& tensors, const session::Metadata& metadata,
                     FiniteCheck& check) {
  ContentHash hash;
  hash.add(static_cast<std::uint64_t>(tensors.entries().size()));
  for (const session::TensorSource::Entry& entry : tensors.entries()) {
    hash.add(entry.name);
    hash.add(graph::to_string(entry.type.dtype));
    hash.add(std::span<const std::int64_t>(entry.type.shape));
    add_numbers(entry.name, tensors.tensor(entry), hash, check);
  }
  for (const auto& [key, text] : metadata) {
    if (key != kChecksumKey) {
      hash.add(key);
      hash.add(text);
    }
  }
  return fmt::format("{:016x}", hash.value());
}

std::string program() {
  return fmt::format("cosmictagger {} ({})", version, revision);
}

session::Metadata metadata_of(const Writing& checkpoint) {
  RunRecord run = checkpoint.run;
  run.program = program();
  session::Metadata metadata;
  metadata[kFormatKey] = kFormat;
  metadata[kStepKey] = std::to_string(checkpoint.step);
  for (const Field& field : kFields) {
    metadata[field.key] = run.*field.text;
  }
  for (const auto& [name, text] : run.notes) {
    metadata[std::string(kNotePrefix) + name] = text;
  }
  return metadata;
}

const std::string& text_of(const session::Metadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  COSMIC_REQUIRE(DataError, found != metadata.end(),
                 "has no '" << key
                            << "' in its metadata (every checkpoint has one); the file is damaged "
                               "or was changed by another program");
  return found->second;
}

std::int64_t step_of(const session::Metadata& metadata) {
  const std::string& text = text_of(metadata, kStepKey);
  std::int64_t step = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  COSMIC_REQUIRE(DataError, error == std::errc() && end == text.data() + text.size() && step >= 0,
                 "has the step " << printable(text)
                                 << " (it must be a whole number); the file was changed by "
                                    "another program");
  return step;
}

Checkpoint own_checkpoint(session::TensorFile&& file, FiniteCheck& check) {
  const std::string& format = text_of(file.metadata, kFormatKey);
  COSMIC_REQUIRE(DataError, format == kFormat || format == kWeightsFormat,
                 "has the format " << printable(format) << " (this version reads '" << kFormat
                                   << "' and '" << kWeightsFormat
                                   << "'); read it with the version that wrote it, "
                                   << printable(text_of(file.metadata, "program")));
  const std::string& expected = text_of(file.metadata, kChecksumKey);
  const std::string found = checksum(session::TensorSource::of(file.tensors), file.metadata, check);
  COSMIC_REQUIRE(DataError, found == expected,
                 "has the checksum "
                     << found << ", but was written with " << printable(expected)
                     << " (some of its bytes have changed); use another checkpoint or a copy");
  Checkpoint checkpoint;
  checkpoint.origin = format == kWeightsFormat ? Origin::weights : Origin::own;
  checkpoint.step = step_of(file.metadata);
  for (const Field& field : kFields) {
    checkpoint.run.*field.text = text_of(file.metadata, field.key);
  }
  for (const auto& [key, text] : file.metadata) {
    if (key.starts_with(kNotePrefix)) {
      checkpoint.run.notes.emplace(key.substr(kNotePrefix.size()), text);
    }
  }
  checkpoint.tensors = std::move(file.tensors);
  return checkpoint;
}

Checkpoint plain_weights(session::TensorFile&& file) {
  Checkpoint checkpoint;
  checkpoint.origin = Origin::weights;
  for (auto& [name, tensor] : file.tensors) {
    const std::string plain(without_distributed_prefix(name));
    COSMIC_REQUIRE(DataError, checkpoint.tensors.emplace(plain, std::move(tensor)).second,
                   "has the tensor " << printable(plain) << " with and without '"
                                     << kDistributedPrefix
                                     << "' (which of the two is meant?); rename one");
  }
  return checkpoint;
}

/// By either of two keys: damage to one must not turn a checkpoint into plain weights.
bool claims_to_be_own(const session::Metadata& metadata) {
  const auto format = metadata.find(kFormatKey);
  return metadata.contains(kChecksumKey) ||
         (format != metadata.end() && format->second.starts_with(kAnyFormat));
}

/// Opening a pipe would wait for a writer.
void require_file(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  COSMIC_REQUIRE(
      DataError, std::filesystem::is_regular_file(status) || !std::filesystem::exists(status),
      path.string() << ": is not a file (but a folder, a pipe or a device, which holds no "
                       "checkpoint); is the path right?");
}

void require_finite(const std::filesystem::path& path, const FiniteCheck& check,
                    const char* consequence) {
  if (const std::optional<NonFinite>& found = check.found()) {
    throw NonFiniteCheckpoint(path.string() + ": " + found->text() + consequence, *found);
  }
}

Checkpoint load_any(const std::filesystem::path& path, FiniteCheck& check) {
  std::optional<ReferenceCheckpoint> reference;
  session::TensorFile file;
  if (ZipArchive::is_archive(path)) {
    reference = load_reference_checkpoint(path);
  } else {
    file = session::load_tensors(path);
  }
  try {
    if (!reference && claims_to_be_own(file.metadata)) {
      return own_checkpoint(std::move(file), check);
    }
    Checkpoint checkpoint =
        reference ? from_reference(*std::move(reference)) : plain_weights(std::move(file));
    check.add(checkpoint.tensors);
    return checkpoint;
  } catch (const DataError& error) {
    throw DataError(path.string() + ": " + error.what());
  }
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Writing& checkpoint,
                     FileOperations& files, Numbers numbers) {
  session::Metadata metadata = metadata_of(checkpoint);
  FiniteCheck check;
  metadata[kChecksumKey] = checksum(checkpoint.tensors, metadata, check);
  if (numbers == Numbers::finite) {
    require_finite(path, check, " (nobody could go on from such a checkpoint); it is not written");
  }
  session::save_tensors(path, checkpoint.tensors, metadata,
                        {.existing = Existing::replace, .files = files});
}

Checkpoint load_checkpoint(const std::filesystem::path& path, Numbers numbers) {
  require_file(path);
  FiniteCheck check;
  Checkpoint checkpoint = load_any(path, check);
  if (numbers == Numbers::finite) {
    require_finite(path, check,
                   " (a network with such weights tags nothing, and training loses the others); "
                   "use an older checkpoint, which `cosmictagger checkpoint show FOLDER` lists");
  }
  return checkpoint;
}

std::string configuration_in(const std::filesystem::path& path) {
  require_file(path);
  if (ZipArchive::is_archive(path)) {
    return "";
  }
  const session::Metadata metadata = session::load_metadata(path);
  const auto found = metadata.find(kConfigurationKey);
  return found != metadata.end() && claims_to_be_own(metadata) ? found->second : "";
}

void save_weights(const std::filesystem::path& path, const Checkpoint& checkpoint,
                  const WeightsFileOptions& options) {
  Checkpoint weights;
  weights.step = checkpoint.step;
  weights.tensors = weights_of(checkpoint);
  weights.run.configuration = checkpoint.run.configuration;
  weights.run.data_fingerprint = checkpoint.run.data_fingerprint;
  for (const char* const name : {kTemperatureNote, kInputsNote, kTrainedByNote}) {
    if (const auto note = checkpoint.run.notes.find(name); note != checkpoint.run.notes.end()) {
      weights.run.notes.insert(*note);
    }
  }
  if (!checkpoint.run.program.empty()) {
    weights.run.notes.emplace(kTrainedByNote, checkpoint.run.program);
  }
  session::Metadata metadata = metadata_of(weights);
  metadata[kFormatKey] = kWeightsFormat;
  FiniteCheck check;
  metadata[kChecksumKey] = checksum(session::TensorSource::of(weights.tensors), metadata, check);
  require_finite(path, check, " (a network with such weights tags nothing); it is not written");
  session::save_tensors(path, weights.tensors, metadata,
                        {.existing = options.existing, .halve_exact = options.halve_exact});
}

}  // namespace cosmic::checkpoint
