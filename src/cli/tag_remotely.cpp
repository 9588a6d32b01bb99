#include "cli/tag_remotely.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>

#include "cli/run_command.hpp"
#include "cli/standard_streams.hpp"
#include "core/error.hpp"
#include "serve/remote/remote_tagging.hpp"
#include "serve/token.hpp"

namespace cosmic::cli {

void ServerChoices::add_options(Command& command) {
  command
      .add_option("--server", servers,
                  "Let a server compute (`cosmictagger serve`), as http://HOST:8000; of several, "
                  "the first that answers")
      ->one_at_a_time()
      ->type_name("URL");
  command.add_option("--model", model, "The server's model")->capture_default_str();
  command.add_option("--token-file", token_file, "A file whose first line the server asks for");
  command.add_option("--certificates", certificates,
                     "PEM file of those who sign the server's certificate");
  command.add_flag("--local-fallback", local_fallback,
                   "Where no server answers, compute here with --weights, and say so");
}

void require_sensible(const ServerChoices& choices, const std::string& weights,
                      const std::vector<std::string>& words) {
  if (!choices.given()) {
    const bool other = choices.local_fallback || !choices.token_file.empty() ||
                       !choices.certificates.empty() || choices.model != ServerChoices{}.model;
    COSMIC_REQUIRE(UserError, !other,
                   "--local-fallback, --model, --token-file or --certificates without --server "
                   "(no server is asked); give --server URL, or leave them out");
    return;
  }
  COSMIC_REQUIRE(UserError, weights.empty() == !choices.local_fallback,
                 "--server with " << (choices.local_fallback ? "--local-fallback and no --weights"
                                                             : "--weights")
                                  << " (the server has weights of its own; weights here are for "
                                     "--local-fallback, which needs them); give both or neither");
  for (const std::string& word : words) {
    COSMIC_REQUIRE(UserError,
                   choices.local_fallback || word.starts_with("data.image_producer=") ||
                       word.starts_with("mode.output_resolution="),
                   "tag --server with " << word
                                        << " (the server computes, so it would do nothing here); "
                                           "give it to `cosmictagger serve`");
  }
}

namespace {

/// What went wrong with servers, told once as long as it stays the same: clients on several threads
/// ask again and again.
class Troubles {
 public:
  void tell_once(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (text != last_) {
      last_ = text;
      tell("note: {}; asking again\n", text);
    }
  }

 private:
  std::mutex mutex_;
  std::string last_;
};

}  // namespace

WhoTagged tag_with_servers(const ServerChoices& choices, const config::Configuration& configuration,
                           const OutputRule& rule, const infer::InferenceOutputs& outputs,
                           std::vector<infer::Findings>& findings) {
  serve::remote::RemoteOptions options;
  options.client.servers = choices.servers;
  options.client.model = choices.model;
  options.client.certificates = choices.certificates;
  Troubles troubles;
  options.client.tell = [&](const std::string& text) { troubles.tell_once(text); };
  if (!choices.token_file.empty()) {
    options.client.token = serve::token_in(choices.token_file);
  }
  RunConsole console = RunConsole::without_file(output::LogLevel::warning);
  try {
    const serve::remote::RemoteSummary summary = serve::remote::tag_remotely(
        configuration, options, console.log(), rule, outputs,
        [&](std::int64_t done, std::int64_t all) {
          console.show(static_cast<double>(done) / static_cast<double>(all),
                       fmt::format("{} of {} events", done, all));
        });
    console.finish();
    for (const std::string& who : summary.computed_by) {
      console.print("computed by {}\n", who);
    }
    findings = summary.findings;
    return WhoTagged::server;
  } catch (const std::invalid_argument& error) {
    throw UserError("--server: " + std::string(error.what()));
  } catch (const serve::client::Refused& error) {
    constexpr int kUnauthorized = 401;
    throw DataError("the server refuses: " + std::string(error.what()) +
                    (error.status() != kUnauthorized ? ""
                     : choices.token_file.empty()
                         ? ", here from --token-file FILE"
                         : ", and " + choices.token_file + " has another one"));
  } catch (const serve::client::Untrusted& error) {
    throw UserError(std::string(error.what()) +
                    " (another server may have answered, and nothing was sent to it); give the "
                    "certificate of whoever signed it with --certificates FILE");
  } catch (const serve::client::Unreachable& error) {
    console.finish();
    COSMIC_REQUIRE(TargetError, choices.local_fallback,
                   "no server has answered, at last " << error.what()
                                                      << " (nothing was tagged); start one with "
                                                         "`cosmictagger serve`, or allow "
                                                         "--local-fallback with --weights");
    tell("note: no server has answered, at last {}; this machine computes\n", error.what());
    return WhoTagged::nobody;
  }
}

}  // namespace cosmic::cli
