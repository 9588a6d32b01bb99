// `cosmictagger completion SHELL` and `cosmictagger manual`: what a shell completes and a manual
// page, from the table that the help comes from.
#include <fmt/core.h>

#include <array>
#include <memory>

#include "cli/command.hpp"
#include "cli/command_table.hpp"
#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "config/configuration.hpp"
#include "config/schema.hpp"
#include "core/config.hpp"
#include "model/enum_text.hpp"

namespace cosmic::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

std::vector<std::string> names_of(const std::vector<CommandEntry>& commands) {
  std::vector<std::string> names;
  for (const CommandEntry& command : commands) {
    names.push_back(command.name);
  }
  return names;
}

/// "network=a21" for every choice of a group, "run.id=" for every key, with its choices.
std::vector<std::string> settings() {
  std::vector<std::string> words;
  for (const config::Group& group : config::groups()) {
    for (const std::string& choice : group.choices) {
      words.push_back(group.name + "=" + choice);
    }
  }
  for (const config::Key& key : config::schema()) {
    words.push_back(key.name + "=");
    for (const config::Choice& choice : key.choices) {
      words.push_back(key.name + "=" + choice.name);
    }
  }
  return words;
}

std::vector<std::string> words_of(const CommandEntry& command) {
  std::vector<std::string> words = names_of(command.commands);
  for (const OptionEntry& option : command.options) {
    for (const std::string& name : option.names) {
      if (name.starts_with('-')) {
        words.push_back(name);
      }
    }
  }
  if (command.takes_settings) {
    words.emplace_back("--config-name");
    words.emplace_back("--config-dir");
  }
  return words;
}

/// A line of a `case` for each command: what may follow it.
void add_cases(const CommandEntry& command, const std::string& path, std::string& cases) {
  cases += fmt::format("    \"{}\") words=\"{}\"; settings={} ;;\n", path,
                       joined(words_of(command)), command.takes_settings ? 1 : 0);
  for (const CommandEntry& inner : command.commands) {
    add_cases(inner, path.empty() ? inner.name : path + " " + inner.name, cases);
  }
}

std::string bash_script(const CommandEntry& program) {
  std::string cases;
  add_cases(program, "", cases);
  // A shell splits words at '=', so a setting is put together again before it is looked up.
  return "# bash completion of cosmictagger; to use it: source <(cosmictagger completion bash)\n"
         "_cosmictagger() {\n"
         "  local line=\"${COMP_LINE:0:COMP_POINT}\" path=\"\" words=\"\" settings=0 word\n"
         "  local current=\"${line##* }\"\n"
         "  for word in ${line% *}; do\n"
         "    case \"$word\" in\n"
         "      -*|*=*|*/*|*.*) ;;\n"
         "      *cosmictagger) ;;\n"
         "      *) path=\"${path:+$path }$word\" ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$path\" in\n" +
         cases +
         "    *) return ;;\n"
         "  esac\n"
         "  if [ \"$settings\" = 1 ]; then words=\"$words " +
         joined(settings()) +
         "\"; fi\n"
         "  local prefix=\"\"\n"
         "  case \"$current\" in *=*) prefix=\"${current%\"${current##*=}\"}\" ;; esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  COMPREPLY=(\"${COMPREPLY[@]#\"$prefix\"}\")\n"
         "  case \"${COMPREPLY[0]}\" in *=) compopt -o nospace ;; esac\n"
         "}\n"
         "complete -o default -F _cosmictagger cosmictagger ./cosmictagger\n";
}

/// zsh can use bash's.
std::string zsh_script(const CommandEntry& program) {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash_script(program);
}

/// In single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    result += letter == '\'' ? std::string("\\'") : std::string(1, letter);
  }
  return "'" + result + "'";
}

std::string fish_script(const CommandEntry& program) {
  std::string script =
      "# fish completion of cosmictagger; to use it: cosmictagger completion fish | source\n"
      "complete -c cosmictagger -f -n __fish_use_subcommand -l version\n";
  std::string takers;
  for (const CommandEntry& command : program.commands) {
    script += fmt::format("complete -c cosmictagger -f -n __fish_use_subcommand -a {} -d {}\n",
                          command.name, quoted(command.description));
    takers += command.takes_settings ? " " + command.name : "";
    for (const CommandEntry& inner : command.commands) {
      script += fmt::format(
          "complete -c cosmictagger -f -n '__fish_seen_subcommand_from {}' -a {} -d {}\n",
          command.name, inner.name, quoted(inner.description));
    }
    for (const OptionEntry& option : command.options) {
      for (const std::string& name : option.names) {
        if (name.starts_with("--")) {
          script += fmt::format(
              "complete -c cosmictagger -n '__fish_seen_subcommand_from {}' -l {}{} -d {}\n",
              command.name, name.substr(2), option.takes_value ? " -r" : "",
              quoted(option.description));
        }
      }
    }
  }
  return script +
         fmt::format("complete -c cosmictagger -f -n '__fish_seen_subcommand_from{}' -a {}\n",
                     takers, quoted(joined(settings())));
}

// --- the manual page ---

/// A dot or a quote at the start of a line is a request to roff, a backslash anywhere.
std::string roff(const std::string& text) {
  std::string result;
  bool start = true;
  for (const char letter : text) {
    if (start && (letter == '.' || letter == '\'')) {
      result += "\\&";
    }
    result += letter == '\\'  ? std::string("\\e")
              : letter == '-' ? std::string("\\-")
                              : std::string(1, letter);
    start = letter == '\n';
  }
  return result;
}

void add_manual_of(const CommandEntry& command, const std::string& name, std::string& page) {
  page += ".SS " + roff(name) + "\n" + roff(command.description) + ".\n";
  for (const OptionEntry& option : command.options) {
    page += ".TP\n.B " + roff(joined(option.names)) + "\n" + roff(option.description) + "\n";
  }
  if (command.takes_settings) {
    page += ".PP\nTakes settings.\n";
  }
  for (const CommandEntry& inner : command.commands) {
    add_manual_of(inner, name + " " + inner.name, page);
  }
}

std::string manual_page(const CommandEntry& program) {
  std::string page = fmt::format(
      ".TH COSMICTAGGER 1 \"\" \"cosmictagger {}\"\n.SH NAME\ncosmictagger \\- {}\n"
      ".SH SYNOPSIS\n.B cosmictagger\n.I COMMAND\n[options] [settings]\n.SH COMMANDS\n",
      version, roff(program.description));
  for (const CommandEntry& command : program.commands) {
    add_manual_of(command, command.name, page);
  }
  page += ".SH SETTINGS\n";
  for (const config::Group& group : config::groups()) {
    page += ".TP\n.B " + roff(group.name + "=" + joined(group.choices)) + "\n" +
            roff(group.meaning) + ".\n";
  }
  for (const config::Key& key : config::schema()) {
    page += ".TP\n.B " + roff(key.name + "=" + config::to_text(key.read(config::Configuration()))) +
            "\n" + roff(key.meaning) + ".\n";
  }
  return page + ".SH EXIT STATUS\n.nf\n" + roff(exit_status_text()) + "\n.fi\n";
}

}  // namespace

void add_completion(Command& app) {
  auto shell = std::make_shared<std::string>();
  Command* command = app.add_subcommand(
      "completion", "Print a script that completes commands, options and settings in a shell");
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  command->footer(
      "bash:  source <(cosmictagger completion bash)\n"
      "zsh:   source <(cosmictagger completion zsh)\n"
      "fish:  cosmictagger completion fish | source");
  command->callback([shell, &app] {
    constexpr std::array<std::string_view, 3> kShells{"bash", "zsh", "fish"};
    const std::size_t chosen = model::choose("shell", *shell, kShells);
    const CommandEntry program = app.entry();
    fmt::print("{}", chosen == 0   ? bash_script(program)
                     : chosen == 1 ? zsh_script(program)
                                   : fish_script(program));
  });
}

void add_manual(Command& app) {
  Command* command =
      app.add_subcommand("manual", "Print a manual page: cosmictagger manual | man -l -");
  command->callback([&app] { fmt::print("{}", manual_page(app.entry())); });
}

}  // namespace cosmic::cli
