// The log of a run: lines `2024-05-01 12:30:00,123 - INFO - message` for people to watch and in
// `<output_dir>/process.log`.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/stopwatch.hpp"
#include "output/append_file.hpp"

namespace cosmic::output {

enum class LogLevel { info, warning, error };

/// One line without its end, in local time. A message of several lines keeps them, as in the
/// reference.
std::string log_line(std::chrono::system_clock::time_point time, LogLevel level,
                     std::string_view message);

class RunLog {
 public:
  /// Called with each line, for the terminal: who draws a progress bar there takes it away first.
  using Console = std::function<void(const std::string& line)>;

  /// Lines go to standard output and, unless `file` is empty, to the end of that file. One that is
  /// opened later keeps its lines until then: a command that is refused leaves no trace. A file
  /// that is full later ends no run: the console is told once, and the file itself when it has room
  /// again. What is less than `least` is not written at all.
  enum class Opening { now, later };
  explicit RunLog(const std::filesystem::path& file = {}, Console console = print_line,
                  Opening opening = Opening::now, LogLevel least = LogLevel::info);

  /// Writes the lines so far into the file, if that has not been done. Throws DataError if there
  /// can be no such file.
  void open();

  /// Between two routine lines on the console; the file has all of them. 0 for no pause.
  void set_console_pause(double seconds) { console_pause_ = seconds; }

  /// What is less is for the file alone.
  void set_console_least(LogLevel least) { console_least_ = least; }

  /// A line of which there are many: how a step went. One that the console was spared comes before
  /// the next line of another kind, so that the last one is always seen.
  void routine(std::string_view message);
  void info(std::string_view message) { write(LogLevel::info, message); }
  void warning(std::string_view message) { write(LogLevel::warning, message); }
  void error(std::string_view message) { write(LogLevel::error, message); }

 private:
  static void print_line(const std::string& line);
  void write(LogLevel level, std::string_view message);
  void tell(LogLevel level, const std::string& line);
  void keep(const std::string& line);
  void write_to_file(const std::string& line);

  std::optional<AppendFile> file_;
  std::int64_t lines_lost_ = 0;  ///< since the file was full
  Console console_;
  LogLevel least_;
  LogLevel console_least_ = LogLevel::info;
  double console_pause_ = 0;
  std::optional<Stopwatch> since_routine_;  ///< the last such line on the console
  std::string spared_;                      ///< the last that was not shown; empty if it was
  std::filesystem::path later_;             ///< the file that is not open yet, if any
  std::vector<std::string> lines_;          ///< for it
};

}  // namespace cosmic::output
