#include "cli/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "core/error.hpp"

namespace cosmic::cli {

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::one_at_a_time() {
  option_->allow_extra_args(false);
  return this;
}

Option* Option::capture_default_str() {
  option_->capture_default_str();
  return this;
}

Option* Option::type_name(const std::string& name) {
  option_->type_name(name);
  return this;
}

Option* Option::positive() {
  option_->check(CLI::PositiveNumber);
  return this;
}

Option* Option::not_negative() {
  option_->check(CLI::NonNegativeNumber);
  return this;
}

Option* Option::between(double least, double most) {
  option_->check(CLI::Range(least, most));
  return this;
}

Option* Option::between(std::int64_t least, std::int64_t most) {
  option_->check(CLI::Range(least, most));
  return this;
}

Command::Command(const std::string& description, const std::string& name)
    : program_(std::make_unique<CLI::App>(description, name)), app_(program_.get()) {}

Command::Command(CLI::App* app) : app_(app) {}

Command::~Command() = default;

Command* Command::add_subcommand(const std::string& name, const std::string& description) {
  CLI::App* const app = app_->add_subcommand(name, description)->group(group_);
  return subcommands_.emplace_back(std::unique_ptr<Command>(new Command(app))).get();
}

void Command::start_group(const std::string& heading) {
  group_ = heading;
}

void Command::require_subcommand() {
  app_->require_subcommand(1);
}

std::vector<std::string> Command::subcommand_names() const {
  std::vector<std::string> names;
  for (const auto& command : subcommands_) {
    names.push_back(command->app_->get_name());
  }
  return names;
}

const Command& Command::subcommand(std::string_view name) const {
  for (const auto& command : subcommands_) {
    if (command->app_->get_name() == name) {
      return *command;
    }
  }
  throw InternalError("there is no subcommand '" + std::string(name) +
                      "'; ask for one of subcommand_names()");
}

template <class Value>
Option* Command::add_option(const std::string& name, Value& value, const std::string& description) {
  return keep(app_->add_option(name, value, description));
}

// A type that is missing here shows when the program is linked.
template Option* Command::add_option(const std::string&, std::string&, const std::string&);
template Option* Command::add_option(const std::string&, std::filesystem::path&,
                                     const std::string&);
template Option* Command::add_option(const std::string&, int&, const std::string&);
template Option* Command::add_option(const std::string&, std::int64_t&, const std::string&);
template Option* Command::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option* Command::add_option(const std::string&, double&, const std::string&);
template Option* Command::add_option(const std::string&, std::vector<std::string>&,
                                     const std::string&);
template Option* Command::add_option(const std::string&, std::vector<std::filesystem::path>&,
                                     const std::string&);

Option* Command::add_flag(const std::string& name, bool& value, const std::string& description) {
  return keep(app_->add_flag(name, value, description));
}

Option* Command::add_flag_callback(const std::string& name, const std::function<void()>& when_given,
                                   const std::string& description) {
  return keep(app_->add_flag_callback(name, when_given, description));
}

void Command::set_help_flag(const std::string& names, const std::string& description) {
  app_->set_help_flag(names, description);
}

void Command::set_version_flag(const std::string& name, const std::string& version,
                               const std::string& description) {
  app_->set_version_flag(name, version, description);
}

void Command::allow_extras() {
  app_->allow_extras();
}

std::vector<std::string> Command::remaining() const {
  return app_->remaining();
}

CommandEntry Command::entry() const {
  CommandEntry entry{app_->get_name(), app_->get_description(), {}, app_->get_allow_extras(), {}};
  for (const CLI::Option* option : app_->get_options()) {
    OptionEntry listed{{}, option->get_description(), option->get_items_expected_max() > 0};
    for (const std::string& name : option->get_snames()) {
      listed.names.push_back("-" + name);
    }
    for (const std::string& name : option->get_lnames()) {
      listed.names.push_back("--" + name);
    }
    if (listed.names.empty()) {
      listed.names.push_back(option->get_name());
    }
    entry.options.push_back(std::move(listed));
  }
  for (const std::unique_ptr<Command>& command : subcommands_) {
    entry.commands.push_back(command->entry());
  }
  return entry;
}

void Command::footer(const std::string& text) {
  app_->footer(text);
}

void Command::footer(const std::function<std::string()>& text) {
  app_->footer(text);
}

void Command::callback(const std::function<void()>& run) {
  app_->callback(run);
}

void Command::parse(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // the parser takes them from the back
  try {
    app_->parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      throw UsageError(error.what());
    }
    app_->exit(error);  // prints what --help and --version ask for
  }
}

Option* Command::keep(CLI::Option* option) {
  return &options_.emplace_back(option);
}

}  // namespace cosmic::cli
