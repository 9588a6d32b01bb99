#include "compile/artifact/artifact_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "compile/artifact/compiler_fingerprint.hpp"
#include "compile/artifact/plan_bytes.hpp"
#include "core/byte_reader.hpp"
#include "core/byte_writer.hpp"
#include "core/config.hpp"
#include "core/content_hash.hpp"
#include "core/crc32c.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/regular_file.hpp"

namespace cosmic::compile::artifact {
namespace {

using compile::Fact;
using compile::Facts;
using compile::Plan;

constexpr std::string_view kMagic = "COSMICEX";
constexpr std::size_t kHeaderBytes =
    kMagic.size() + 2 * sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::size_t kEmptyTextBytes = sizeof(std::uint64_t);
constexpr std::string_view kDamaged = "it is damaged; copy or compile it again";

std::string file_content(const std::filesystem::path& path) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(regular_file(path), error);
  std::ifstream file(path, std::ios::binary);
  COSMIC_REQUIRE(DataError, !error && file.is_open(),
                 "cannot be read (" << (error ? error.message() : std::strerror(errno))
                                    << "); is the path right?");
  COSMIC_REQUIRE(DataError, size <= kMostArtifactBytes,
                 "has " << size << " bytes (an executable has at most " << kMostArtifactBytes
                        << "); is it one?");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

Facts read_facts(ByteReader& in) {
  Facts facts(in.count(2 * kEmptyTextBytes));
  for (Fact& fact : facts) {
    fact.name = in.text();
    fact.value = in.text();
  }
  return facts;
}

void write_facts(ByteWriter& out, const Facts& facts) {
  out.count(facts.size());
  for (const Fact& fact : facts) {
    out.text(fact.name);
    out.text(fact.value);
  }
}

std::size_t facts_in_common(const Facts& a, const Facts& b) {
  return static_cast<std::size_t>(std::count_if(a.begin(), a.end(), [&](const Fact& fact) {
    const std::string* const other = find_fact(b, fact.name);
    return other != nullptr && *other == fact.value;
  }));
}

}  // namespace

std::string writer() {
  return "cosmictagger " + std::string(version) + ", compiler " +
         std::string(compiler_fingerprint());
}

std::string sealed(std::string_view content) {
  ByteWriter header;
  header.u32(kFormat);
  header.u32(crc32c(content));
  header.u64(content.size());
  return std::string(kMagic) + header.bytes() + std::string(content);
}

std::string_view unsealed(std::string_view bytes) {
  COSMIC_REQUIRE(DataError, bytes.starts_with(kMagic),
                 "is not an executable of this program (it begins with "
                     << printable(bytes.substr(0, kMagic.size())) << ", not with '" << kMagic
                     << "'); executables are written by `cosmictagger compile`");
  const std::string_view rest = bytes.substr(kMagic.size());
  COSMIC_REQUIRE(
      DataError, bytes.size() >= kHeaderBytes,
      "has only " << bytes.size() << " bytes (it is cut short); copy or compile it again");
  ByteReader header(rest, "has a header that", kDamaged);
  const std::uint32_t format = header.u32();
  COSMIC_REQUIRE(DataError, format == kFormat,
                 "is an executable of format " << format << " (this program reads format "
                                               << kFormat << "; it comes from "
                                               << (format < kFormat ? "an older" : "a newer")
                                               << " version); compile it again");
  const std::uint32_t checksum = header.u32();
  const std::uint64_t length = header.u64();
  const std::string_view content = bytes.substr(kHeaderBytes);
  COSMIC_REQUIRE(DataError, content.size() == length,
                 "has " << content.size() << " bytes of content, its header says " << length
                        << " (it is cut short or something was added); copy or compile it again");
  COSMIC_REQUIRE(DataError, crc32c(content) == checksum,
                 "is damaged (its checksum does not match its content); copy or compile it again");
  return content;
}

std::string artifact_bytes(std::span<const Plan* const> plans, const Facts& notes) {
  ByteWriter out;
  out.text(writer());
  write_facts(out, notes);
  out.count(plans.size());
  for (const Plan* const plan : plans) {
    COSMIC_ASSERT(!plan->origin.made_from.empty());
    write_facts(out, plan->origin.made_from);
    out.text(plan_bytes(*plan));
  }
  return sealed(out.bytes());
}

Artifact artifact_of(std::string_view bytes) {
  ByteReader in(unsealed(bytes), "has content that", kDamaged);
  const std::string_view written_by = in.text();
  COSMIC_REQUIRE(
      DataError, written_by == writer(),
      "was written by "
          << printable(written_by) << ", this is " << printable(writer())
          << " (different versions may compile a program differently); compile it again");
  Artifact artifact;
  artifact.notes = read_facts(in);
  artifact.programs.resize(in.count(2 * kEmptyTextBytes));
  for (StoredProgram& program : artifact.programs) {
    program.made_from = read_facts(in);
    program.plan = in.text();
  }
  in.require_end();
  return artifact;
}

void save_artifact(const std::filesystem::path& path, std::span<const Plan* const> plans,
                   Existing existing, const Facts& notes) {
  PendingFile file(path, existing);
  const std::string bytes = artifact_bytes(plans, notes);
  file.append(std::as_bytes(std::span(bytes)));
  file.commit();
}

Artifact load_artifact(const std::filesystem::path& path) {
  try {
    return artifact_of(file_content(path));
  } catch (const DataError& error) {
    throw DataError(path.string() + ": " + error.what());
  }
}

std::string key_of(const Facts& facts) {
  ContentHash hash;
  for (const Fact& fact : facts) {
    hash.add(fact.name);
    hash.add(fact.value);
  }
  return hash.text();
}

const std::string* find_fact(const Facts& facts, std::string_view name) {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.name == name; });
  return found == facts.end() ? nullptr : &found->value;
}

std::string differences(const Facts& there, const Facts& here) {
  constexpr const char* kNothing = "(nothing)";
  std::string lines;
  const auto add = [&](const std::string& name, const std::string* a, const std::string* b) {
    lines += "\n  " + name + ": there " + (a == nullptr ? kNothing : printable(*a)) + ", here " +
             (b == nullptr ? kNothing : printable(*b));
  };
  for (const Fact& fact : here) {
    const std::string* const other = find_fact(there, fact.name);
    if (other == nullptr || *other != fact.value) {
      add(fact.name, other, &fact.value);
    }
  }
  for (const Fact& fact : there) {
    if (find_fact(here, fact.name) == nullptr) {
      add(printable(fact.name), &fact.value, nullptr);
    }
  }
  return lines;
}

Plan plan_made_from(const Facts& facts, const Artifact& artifact) {
  const std::vector<StoredProgram>& programs = artifact.programs;
  COSMIC_REQUIRE(DataError, !programs.empty(), "contains no program; compile it again");
  const auto found =
      std::find_if(programs.begin(), programs.end(),
                   [&](const StoredProgram& program) { return program.made_from == facts; });
  if (found == programs.end()) {
    const auto nearest = std::max_element(
        programs.begin(), programs.end(), [&](const StoredProgram& a, const StoredProgram& b) {
          return facts_in_common(facts, a.made_from) < facts_in_common(facts, b.made_from);
        });
    throw DataError(
        "was compiled for something else (it would compute other results, or needs another "
        "machine); compile it again, or use the settings it was compiled for:" +
        differences(nearest->made_from, facts));
  }
  Plan plan = plan_of(found->plan);
  plan.origin.made_from = facts;
  return plan;
}

}  // namespace cosmic::compile::artifact
