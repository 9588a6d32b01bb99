#include "view/metrics_follower.hpp"

#include <sys/stat.h>

#include <charconv>
#include <fstream>
#include <limits>
#include <string_view>

#include "core/regular_file.hpp"

namespace cosmic::view {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;

double number_in(std::string_view cell) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const bool whole = error == std::errc() && end == cell.data() + cell.size();
  return whole ? value : std::numeric_limits<double>::quiet_NaN();
}

template <class Use>
void each_cell(std::string_view line, const Use& use) {
  while (true) {
    const std::size_t comma = line.find(',');
    use(line.substr(0, comma));
    if (comma == std::string_view::npos) {
      return;
    }
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

void MetricsFollower::start_again() {
  if (!columns_.empty()) {
    ++generation_;
  }
  read_ = 0;
  last_line_.clear();
  columns_.clear();
  rows_.clear();
}

void MetricsFollower::add_line(std::string_view line) {
  if (columns_.empty()) {
    each_cell(line, [&](std::string_view cell) { columns_.emplace_back(cell); });
    return;
  }
  std::vector<double> row;
  row.reserve(columns_.size());
  each_cell(line, [&](std::string_view cell) { row.push_back(number_in(cell)); });
  if (row.size() == columns_.size()) {
    rows_.push_back(std::move(row));
  }
}

void MetricsFollower::update() {
  struct stat now {};
  if (stat(path_.c_str(), &now) != 0) {
    start_again();
    return;
  }
  const auto size = static_cast<std::uint64_t>(now.st_size);
  if (now.st_ino != inode_ || size < read_) {
    start_again();
    inode_ = now.st_ino;
  }
  std::ifstream file(regular_file(path_), std::ios::binary);
  // A file that was cut and has grown since is as long as before; its last row tells.
  if (read_ > 0) {
    std::string line(last_line_.size(), '\0');
    file.seekg(static_cast<std::streamoff>(read_ - last_line_.size()));
    file.read(line.data(), static_cast<std::streamsize>(line.size()));
    if (!file || line != last_line_) {
      start_again();
    }
  }
  file.clear();
  file.seekg(static_cast<std::streamoff>(read_));
  std::string waiting;
  std::vector<char> piece(kPieceBytes);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())), file.gcount() > 0) {
    waiting.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    std::size_t begin = 0;
    for (std::size_t end = waiting.find('\n'); end != std::string::npos;
         end = waiting.find('\n', begin)) {
      add_line(std::string_view(waiting).substr(begin, end - begin));
      last_line_ = waiting.substr(begin, end + 1 - begin);
      begin = end + 1;
    }
    read_ += begin;
    waiting.erase(0, begin);
  }
}

}  // namespace cosmic::view
