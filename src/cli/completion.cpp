// `cosmictagger completion SHELL` and `cosmictagger manual`: what a shell completes and a manual
// page, from the table that the help comes from.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <string_view>

#include "cli/command.hpp"
#include "cli/command_table.hpp"
#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "config/configuration.hpp"
#include "config/recipe.hpp"
#include "config/schema.hpp"
#include "core/config.hpp"
#include "model/enum_text.hpp"
#include "tagger/box.hpp"

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

/// What may follow a command, beside its settings.
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

/// Its options after which a value comes.
std::vector<std::string> valued_of(const CommandEntry& command) {
  std::vector<std::string> names;
  for (const OptionEntry& option : command.options) {
    if (option.takes_value) {
      std::copy_if(option.names.begin(), option.names.end(), std::back_inserter(names),
                   [](const std::string& name) { return name.starts_with('-'); });
    }
  }
  if (command.takes_settings) {
    names.emplace_back("--config-name");
    names.emplace_back("--config-dir");
  }
  return names;
}

bool takes_files(const CommandEntry& command) {
  return std::any_of(command.options.begin(), command.options.end(), [](const OptionEntry& option) {
    return !option.names.front().starts_with('-');
  });
}

/// A line of a `case` for each command: what may follow it.
void add_cases(const CommandEntry& command, const std::string& path, std::string& cases) {
  cases += fmt::format(
      "    \"{}\") words=\"{}\"; commands=\"{}\"; valued=\"{}\"; settings={}; files={} ;;\n", path,
      joined(words_of(command)), joined(names_of(command.commands)), joined(valued_of(command)),
      command.takes_settings ? 1 : 0, takes_files(command) ? 1 : 0);
  for (const CommandEntry& inner : command.commands) {
    add_cases(inner, path.empty() ? inner.name : path + " " + inner.name, cases);
  }
}

// bash splits words at '=', so a setting is put together again before it is looked up, and what is
// before its value is not offered again; zsh does not. Where nothing is offered, the shell
// completes the names of files.
constexpr std::string_view kBashFunction = R"(_cosmictagger() {
  local line="${COMP_LINE:0:$COMP_POINT}" path="" before="" words commands valued settings files
  local current="${line##* }"
  _cosmictagger_after ""
  for before in ${line% *}; do
    case " $commands " in
      *" $before "*) path="${path:+$path }$before"; _cosmictagger_after "$path" ;;
    esac
  done
  COMPREPLY=()
  case "$before" in
    --config-name) words="@recipes@" ;;
    --network) words="@networks@" ;;
    *)
      case " $valued " in *" $before "*) return ;; esac
      if [ -z "$current$commands" ] && [ "$files" = 1 ]; then return; fi
      if [ "$settings" = 1 ]; then words="$words @settings@"; fi
      ;;
  esac
  local prefix=""
  case "$COMP_WORDBREAKS$current" in *=*=*) prefix="${current%"${current##*=}"}" ;; esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
  case "${COMPREPLY[0]}" in *=) compopt -o nospace 2> /dev/null ;; esac
}
complete -o default -F _cosmictagger cosmictagger ./cosmictagger
)";

std::string replaced(std::string text, std::string_view mark, const std::string& with) {
  return text.replace(text.find(mark), mark.size(), with);
}

std::string bash_script(const CommandEntry& program) {
  std::string cases;
  add_cases(program, "", cases);
  std::string function(kBashFunction);
  function = replaced(std::move(function), "@recipes@", joined(config::built_in_recipes()));
  function = replaced(std::move(function), "@networks@",
                      fmt::format("{}", fmt::join(tagger::kBoxedNetworks, " ")));
  function = replaced(std::move(function), "@settings@", joined(settings()));
  return "# bash completion of cosmictagger; to use it: source <(cosmictagger completion bash)\n"
         "_cosmictagger_after() {\n"
         "  case \"$1\" in\n" +
         cases + "  esac\n}\n" + function;
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
