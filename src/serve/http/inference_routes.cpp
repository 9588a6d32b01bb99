#include "serve/http/inference_routes.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/stopwatch.hpp"
#include "serve/json_body.hpp"
#include "serve/model_text.hpp"

namespace cosmic::serve::http {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

int status_of(Reason reason) {
  switch (reason) {
    case Reason::invalid:
      return 400;
    case Reason::not_found:
      return 404;
    case Reason::too_large:
      return 413;
    case Reason::unauthenticated:
      return 401;
    case Reason::overloaded:
    case Reason::unavailable:
      return 503;
    case Reason::deadline:
      return 504;
    case Reason::cancelled:
      return 499;
    case Reason::internal:
      return 500;
  }
  COSMIC_ASSERT(false);
}

Answer answer_of_refusal(const Refusal& refusal) {
  Answer answer;
  answer.status = status_of(refusal.reason());
  answer.body = error_body(refusal.what());
  if (answer.status == 503) {
    answer.headers.emplace_back("Retry-After", "1");
  }
  if (answer.status == 401) {
    answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  return answer;
}

Answer internal_error() {
  return answer_of_refusal(Refusal(Reason::internal, "the server could not answer this"));
}

/// Runs `make`, and turns what it throws into an answer that tells nothing about the inside.
template <class Make>
Answer guarded(const Make& make) {
  try {
    return make();
  } catch (const Refusal& refusal) {
    return answer_of_refusal(refusal);
  } catch (const std::bad_alloc&) {
    return answer_of_refusal(
        Refusal(Reason::overloaded, "there is no memory for the request; try again later"));
  } catch (const std::exception&) {
    return internal_error();
  }
}

Answer json_answer(const std::string& text) {
  Answer answer;
  answer.body = text;
  return answer;
}

std::vector<std::string> words_of(const std::string& path) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) {
      words.push_back(path.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return words;
}

Refusal no_such_address(const Head& head) {
  return {Reason::not_found,
          "there is nothing at " + printable(head.method + " " + head.path) + " on this port"};
}

std::optional<std::size_t> json_length(const Head& head) {
  const std::string text = head.header("inference-header-content-length");
  if (text.empty()) {
    return std::nullopt;
  }
  std::size_t length = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, length);
  require(error == std::errc() && last == end, Reason::invalid,
          "Inference-Header-Content-Length is no number of bytes");
  return length;
}

AccessRecord record_of(const char* protocol, const Head& head, const Answer& answer) {
  AccessRecord record;
  record.protocol = protocol;
  record.peer = head.peer;
  // Of a request that could not be read there may be neither.
  record.what = head.method.empty() && head.path.empty() ? "-" : head.method + " " + head.path;
  record.status = answer.status;
  record.answer_bytes = answer.body.size();
  constexpr std::size_t kLongestError = 300;
  if (answer.status >= 400) {
    record.error = answer.body.substr(0, kLongestError);
  }
  return record;
}

Answer broken_answer(int status) {
  Answer answer;
  answer.status = status;
  const char* text = "the request could not be read";
  if (status == 431) {
    text = "the head of the request is larger than this server takes";
  } else if (status == 408) {
    text = "the request did not come in time";
  } else if (status == 413) {
    text = "the body is larger than this server takes";
  } else if (status == 411) {
    text = "a body needs Content-Length, or Transfer-Encoding: chunked";
  } else if (status == 503) {
    text = "the server has too much to do; try again later";
    answer.headers.emplace_back("Retry-After", "1");
  } else if (status == 405) {
    text = "GET, HEAD and POST are the methods of this server";
  }
  answer.body = error_body(text);
  return answer;
}

}  // namespace

std::optional<Answer> InferenceRoutes::refuse(const Head& head) const {
  // Whether it is alive may be asked by anybody: those who watch over servers have no tokens.
  if (head.path == "/v2/health/live" || head.path == "/v2/health/ready") {
    return std::nullopt;
  }
  try {
    service_.require_token(head.header("authorization"));
  } catch (const Refusal& refusal) {
    return answer_of_refusal(refusal);
  }
  return std::nullopt;
}

Answer InferenceRoutes::broken(int status) const {
  return broken_answer(status);
}

void InferenceRoutes::note_refused(const Head& head, const Answer& answer) {
  service_.log().add(record_of("http", head, answer));
}

Answer InferenceRoutes::answer(const Head& head, std::string_view body,
                               const std::function<bool()>& cancelled) {
  const Stopwatch watch;
  AccessRecord inference;
  Answer answer = guarded([&]() -> Answer {
    const std::vector<std::string> words = words_of(head.path);
    const bool read = head.method == "GET" || head.method == "HEAD";
    require(!words.empty() && words.front() == "v2", Reason::not_found,
            [&] { return std::string(no_such_address(head).what()); });
    if (words.size() == 1 && read) {
      return json_answer(server_metadata());
    }
    if (words.size() == 3 && words[1] == "health" && read) {
      require(words[2] == "live" || words[2] == "ready", Reason::not_found,
              [&] { return std::string(no_such_address(head).what()); });
      require(words[2] == "live" || service_.ready(), Reason::unavailable, "the server is ending");
      Answer fine;
      fine.type = "text/plain";
      return fine;
    }
    if (words.size() == 3 && words[1] == "models" && words[2] == "stats" && read) {
      return json_answer(statistics_text(service_.models().all()));
    }
    if (words.size() == 3 && words[1] == "repository" && words[2] == "index") {
      return json_answer(index_text(service_.models()));
    }
    require(words.size() >= 3 && words[1] == "models", Reason::not_found,
            [&] { return std::string(no_such_address(head).what()); });
    return answer_model(head, words, body, cancelled, inference);
  });
  AccessRecord record = record_of("http", head, answer);
  record.request_bytes = body.size();
  record.seconds = watch.seconds();
  record.model = std::move(inference.model);
  record.version = std::move(inference.version);
  record.id = std::move(inference.id);
  record.events = inference.events;
  record.times = inference.times;
  service_.log().add(record);
  return answer;
}

Answer InferenceRoutes::answer_model(const Head& head, const std::vector<std::string>& words,
                                     std::string_view body, const std::function<bool()>& cancelled,
                                     AccessRecord& record) {
  // models/NAME[/versions/VERSION][/WHAT]
  std::size_t next = 3;
  std::string version;
  if (words.size() > next + 1 && words[next] == "versions") {
    version = words[next + 1];
    next += 2;
  }
  require(words.size() <= next + 1, Reason::not_found,
          [&] { return std::string(no_such_address(head).what()); });
  const std::string what = words.size() == next + 1 ? words[next] : "";
  const std::string& name = words[2];
  if (what == "infer") {
    require(head.method == "POST", Reason::invalid, "inference is a POST");
    return infer(head, name, version, body, cancelled, record);
  }
  require(head.method != "POST", Reason::invalid, "this is a GET");
  const std::shared_ptr<const ServedModel> model = service_.models().find(name, version);
  if (what.empty()) {
    return json_answer(metadata_text(*model, service_.models().versions(name)));
  }
  if (what == "config") {
    return json_answer(config_text(*model));
  }
  if (what == "stats") {
    return json_answer(statistics_text({model}));
  }
  require(what == "ready", Reason::not_found,
          [&] { return std::string(no_such_address(head).what()); });
  require(service_.ready(), Reason::unavailable, "the server is ending");
  Answer fine;
  fine.type = "text/plain";
  return fine;
}

Answer InferenceRoutes::infer(const Head& head, const std::string& name, const std::string& version,
                              std::string_view body, const std::function<bool()>& cancelled,
                              AccessRecord& record) {
  record.model = name;
  record.version = version;
  const std::string type = head.header("content-type");
  const bool is_file = type.starts_with("application/x-hdf5");
  ServiceAnswer tagged = service_.infer(
      name, version,
      [&] {
        if (is_file) {
          InferRequest request;
          request.inputs.push_back({"larcv", "BYTES", {1}, body});
          request.binary_output = head.header("accept") == "application/octet-stream";
          return request;
        }
        return infer_request_from(body, json_length(head), service_.limits());
      },
      cancelled);
  record.version = std::to_string(tagged.model->version());
  record.id = tagged.id;
  record.events = tagged.events;
  record.times = tagged.times;
  AnswerBody answer_bytes =
      answer_body({tagged.id, tagged.model->name(), record.version, tagged.model->fingerprint()},
                  std::move(tagged.outputs));
  Answer answer;
  answer.body = std::move(answer_bytes.bytes);
  if (answer_bytes.json_bytes) {
    answer.type = "application/octet-stream";
    answer.headers.emplace_back("Inference-Header-Content-Length",
                                std::to_string(*answer_bytes.json_bytes));
  }
  return answer;
}

std::optional<Answer> ManagementRoutes::refuse(const Head& head) const {
  try {
    service_.require_token(head.header("authorization"));
  } catch (const Refusal& refusal) {
    return answer_of_refusal(refusal);
  }
  return std::nullopt;
}

Answer ManagementRoutes::broken(int status) const {
  return broken_answer(status);
}

void ManagementRoutes::note_refused(const Head& head, const Answer& answer) {
  service_.log().add(record_of("http-management", head, answer));
}

Answer ManagementRoutes::answer(const Head& head, std::string_view body,
                                const std::function<bool()>&) {
  const Stopwatch watch;
  Answer answer = guarded([&] { return answer_checked(head); });
  AccessRecord record = record_of("http-management", head, answer);
  record.request_bytes = body.size();
  record.seconds = watch.seconds();
  service_.log().add(record);
  return answer;
}

Answer ManagementRoutes::answer_checked(const Head& head) {
  const std::vector<std::string> words = words_of(head.path);
  if (words == std::vector<std::string>{"metrics"} && head.method != "POST") {
    Answer answer;
    answer.type = "text/plain; version=0.0.4";
    answer.body = metrics_text(service_.models(), gauges_());
    return answer;
  }
  if (words == std::vector<std::string>{"v2", "repository", "index"}) {
    return json_answer(index_text(service_.models()));
  }
  const bool known = words.size() == 5 && words[0] == "v2" && words[1] == "repository" &&
                     words[2] == "models" && (words[4] == "load" || words[4] == "unload") &&
                     head.method == "POST";
  require(known, Reason::not_found, [&] { return std::string(no_such_address(head).what()); });
  require(control_ == ModelControl::explicit_requests, Reason::invalid,
          "this server loads and unloads nothing; start it with --allow-model-control");
  if (words[4] == "unload") {
    service_.models().unload(words[3]);
    return json_answer("{}");
  }
  try {
    service_.models().load(words[3]);
  } catch (const Error&) {
    // What is wrong with the weights names files; the server's own log has it.
    throw Refusal(Reason::invalid,
                  "the weights of " + printable(words[3]) +
                      " cannot be used, and nothing has changed; the server's log says why");
  }
  return json_answer("{}");
}

}  // namespace cosmic::serve::http
