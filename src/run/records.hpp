// What somebody's machine did, for calibrating its description: step time, peak memory, and what
// profilers and logs of vendors say. See docs/calibrate.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cosmic::run {

/// step, products, other: seconds of a step, of its convolutions and matrix products, and of the
/// rest of its kernels. memory: bytes at the peak. loading: seconds of loading programs for each
/// second of executing them.
struct Observation {
  enum class Kind : std::uint8_t { step, products, other, memory, loading };

  Kind kind = Kind::step;
  double value = 0;
};

std::string to_string(Observation::Kind kind);

struct Record {
  std::string name;                        ///< of its file
  std::vector<std::string> settings = {};  ///< as explain takes them; may be none
  std::vector<Observation> observations = {};
};

/// Reads our JSON record, a trace of torch.profiler, a memory log of Habana or the text of
/// sntilestat: the content says which. Throws DataError with what is missing, UserError if the file
/// cannot be read.
Record read_record(const std::string& path);
/// The same for its content.
Record parse_record(const std::string& text, const std::string& name);

/// Our JSON record.
std::string to_json(const Record& record);

}  // namespace cosmic::run
