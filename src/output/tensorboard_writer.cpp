// An event file is a list of records; a record is a length, a checksum of the length, an Event and
// a checksum of the Event. Field numbers are those of TensorFlow's event.proto and summary.proto.
#include "output/tensorboard_writer.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <vector>

#include "core/crc32c.hpp"
#include "core/error.hpp"
#include "core/little_endian.hpp"
#include "core/protobuf_writer.hpp"
#include "picture/png.hpp"

namespace cosmic::output {
namespace {

namespace event_field {
constexpr std::uint32_t kWallTime = 1;
constexpr std::uint32_t kStep = 2;
constexpr std::uint32_t kFileVersion = 3;
constexpr std::uint32_t kSummary = 5;
constexpr std::uint32_t kSessionLog = 7;
}  // namespace event_field

namespace session_log_field {
constexpr std::uint32_t kStatus = 1;
}  // namespace session_log_field

namespace summary_field {
constexpr std::uint32_t kValue = 1;
}  // namespace summary_field

namespace value_field {
constexpr std::uint32_t kTag = 1;
constexpr std::uint32_t kSimpleValue = 2;
constexpr std::uint32_t kImage = 4;
}  // namespace value_field

namespace image_field {
constexpr std::uint32_t kHeight = 1;
constexpr std::uint32_t kWidth = 2;
constexpr std::uint32_t kColorSpace = 3;
constexpr std::uint32_t kEncoded = 4;
}  // namespace image_field

constexpr std::string_view kFileVersion = "brain.Event:2";
constexpr std::int64_t kSessionStarts = 1;
constexpr std::int64_t kGreyscale = 1;
// The reference's 0, 0.5 and 1 as bytes.
constexpr std::array<std::uint8_t, 3> kShades{0, 127, 255};

/// TensorFlow rotates and shifts checksums, so that the checksum of data that holds its own
/// checksum stays meaningful.
std::uint32_t masked_crc(std::string_view bytes) {
  constexpr std::uint32_t kShift = 0xa282ead8;
  const std::uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + kShift;
}

std::string record_of(const ProtobufWriter& event) {
  std::string record;
  append_little_endian(record, std::uint64_t{event.encoded().size()});
  append_little_endian(record, masked_crc(record));
  record += event.encoded();
  append_little_endian(record, masked_crc(event.encoded()));
  return record;
}

double wall_time() {
  using std::chrono::system_clock;
  return std::chrono::duration<double>(system_clock::now().time_since_epoch()).count();
}

ProtobufWriter event_at(std::int64_t step) {
  ProtobufWriter event;
  event.real64(event_field::kWallTime, wall_time());
  event.integer(event_field::kStep, step);
  return event;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// TensorBoard reads the files of a folder in the order of their names, so a later run must sort
/// behind an earlier one, also within a second.
std::filesystem::path free_name(const std::filesystem::path& folder) {
  const std::string base = fmt::format("events.out.tfevents.{:010}.{}",
                                       static_cast<std::int64_t>(wall_time()), host_name());
  std::filesystem::path path = folder / base;
  for (int run = 1; std::filesystem::exists(path); ++run) {
    path = folder / fmt::format("{}.{:03}", base, run);
  }
  return path;
}

}  // namespace

TensorBoardWriter::TensorBoardWriter(const std::filesystem::path& folder, std::int64_t first_step)
    : file_(free_name(folder), AppendFile::Start::fresh) {
  ProtobufWriter version;
  version.real64(event_field::kWallTime, wall_time());
  version.bytes(event_field::kFileVersion, kFileVersion);
  std::string start = record_of(version);
  if (first_step > 0) {
    ProtobufWriter session;
    session.integer(session_log_field::kStatus, kSessionStarts);
    ProtobufWriter restart = event_at(first_step);
    restart.message(event_field::kSessionLog, session);
    start += record_of(restart);
  }
  file_.append(start);
}

void TensorBoardWriter::add_scalars(std::int64_t step, const Metrics& metrics) {
  ProtobufWriter summary;
  for (const Metric& metric : metrics) {
    ProtobufWriter value;
    value.bytes(value_field::kTag, metric.key);
    value.real32(value_field::kSimpleValue, static_cast<float>(metric.value));
    summary.message(summary_field::kValue, value);
  }
  ProtobufWriter event = event_at(step);
  event.message(event_field::kSummary, summary);
  file_.append(record_of(event));
}

void TensorBoardWriter::add_image(std::int64_t step, const std::string& tag,
                                  const ClassImage& image) {
  std::vector<std::uint8_t> shades;
  shades.reserve(image.classes.size());
  for (const std::uint8_t pixel_class : image.classes) {
    COSMIC_ASSERT(pixel_class < kShades.size());
    shades.push_back(kShades[pixel_class]);
  }
  ProtobufWriter message;
  message.integer(image_field::kHeight, image.rows);
  message.integer(image_field::kWidth, image.columns);
  message.integer(image_field::kColorSpace, kGreyscale);
  message.bytes(image_field::kEncoded,
                picture::encode_png(picture::PngSource{image.rows, image.columns,
                                                       picture::PngColor::grey, shades}));
  ProtobufWriter value;
  value.bytes(value_field::kTag, tag);
  value.message(value_field::kImage, message);
  ProtobufWriter summary;
  summary.message(summary_field::kValue, value);
  ProtobufWriter event = event_at(step);
  event.message(event_field::kSummary, summary);
  file_.append(record_of(event));
}

}  // namespace cosmic::output
