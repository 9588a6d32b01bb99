// The command line: commands, their options, and what runs when one is asked for. A front of CLI11,
// which takes a compiler so long that command.cpp alone includes it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_table.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cosmic::cli {

/// The words of a command line do not fit the commands and their options; what() says how.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Ends a command that has already said what there is to say with this exit status.
class ExitStatus : public std::exception {
 public:
  explicit ExitStatus(int status) : status_(status) {}

  int status() const { return status_; }
  const char* what() const noexcept override {
    return "the command ended with a status other than 0";
  }

 private:
  int status_;
};

/// An option of a command. Each call returns the option, so that calls can be chained.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option* required();
  /// Of a list: each time it is given it takes one word, and what follows is not for it.
  Option* one_at_a_time();
  /// The help shows the value that the variable has now.
  Option* capture_default_str();
  /// What the help shows for the value, instead of its kind.
  Option* type_name(const std::string& name);

  // What values it takes.
  Option* positive();
  Option* not_negative();
  Option* between(double least, double most);
  Option* between(std::int64_t least, std::int64_t most);

 private:
  CLI::Option* option_;
};

/// A command of the program, or the program itself. Options write into variables of the caller,
/// which must live until parse() has returned.
class Command {
 public:
  explicit Command(const std::string& description = "", const std::string& name = "");
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(const std::string& name, const std::string& description);
  /// The help lists subcommands that are added from now on under this heading.
  void start_group(const std::string& heading);
  /// One of the subcommands must be given.
  void require_subcommand();
  std::vector<std::string> subcommand_names() const;
  /// Throws InternalError if there is none of that name.
  const Command& subcommand(std::string_view name) const;

  /// "--name", or "NAME" for one without a name, which goes by its position. command.cpp lists the
  /// types that Value can be.
  template <class Value>
  Option* add_option(const std::string& name, Value& value, const std::string& description);
  Option* add_flag(const std::string& name, bool& value, const std::string& description);
  Option* add_flag_callback(const std::string& name, const std::function<void()>& when_given,
                            const std::string& description);
  void set_help_flag(const std::string& names, const std::string& description);
  void set_version_flag(const std::string& name, const std::string& version,
                        const std::string& description);

  /// Words that are no options are kept for remaining() instead of being refused.
  void allow_extras();
  std::vector<std::string> remaining() const;

  /// The command and all below it, as data.
  CommandEntry entry() const;

  /// Text below the help.
  void footer(const std::string& text);
  void footer(const std::function<std::string()>& text);
  /// What runs when the command is given, after all its options have been read.
  void callback(const std::function<void()>& run);

  /// Reads the words and runs the command they ask for, or prints the help or the version if they
  /// ask for that. Throws UsageError, and whatever the command throws.
  void parse(std::vector<std::string> words);

 private:
  explicit Command(CLI::App* app);
  Option* keep(CLI::Option* option);

  std::unique_ptr<CLI::App> program_;  ///< of the program alone; commands belong to their parent
  CLI::App* app_;
  std::vector<std::unique_ptr<Command>> subcommands_;
  std::string group_ = "Commands";  ///< of the next subcommand
  std::deque<Option> options_;
};

}  // namespace cosmic::cli
