#include "serve/client/tagging_client.hpp"

#include <httplib.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <thread>

namespace cosmic::serve::client {
namespace {

using nlohmann::json;

template <class Value>
void append(std::string& bytes, const std::vector<Value>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
}

/// Does the status mean that another try, or another server, may do better?
bool worth_another_try(int status) {
  return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
         status == 504;
}

/// What the library's word means to whoever wants an answer.
std::string explained(httplib::Error error, bool tls) {
  switch (error) {
    case httplib::Error::Connection:
      return "no connection (nobody listens there, or there is no such host)";
    case httplib::Error::ConnectionTimeout:
      return "no connection in time";
    case httplib::Error::Read:
      return tls ? "the connection ended without an answer, or none came in time"
                 : "the connection ended without an answer, or none came in time (a server with "
                   "TLS wants https://)";
    case httplib::Error::Write:
      return "the request could not be sent to its end";
    case httplib::Error::SSLConnection:
      return "no TLS connection could be made (a server without TLS wants http://)";
    default:
      return httplib::to_string(error);
  }
}

std::string error_in(const std::string& body) {
  const json parsed = json::parse(body, nullptr, false);
  constexpr std::size_t kLongest = 500;
  if (parsed.is_object() && parsed.contains("error") && parsed["error"].is_string()) {
    return parsed["error"].get<std::string>().substr(0, kLongest);
  }
  return "no reason given";
}

/// An answer that is not what was asked for is never used: it counts as a server that failed.
class Unusable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void require(bool condition, const char* what) {
  if (!condition) {
    throw Unusable(what);
  }
}

struct Tensors {
  json head;
  std::map<std::string, std::string_view> bytes;
  std::map<std::string, std::string> types;
};

Tensors tensors_in(const httplib::Response& response) {
  const std::string text = response.get_header_value("Inference-Header-Content-Length");
  std::size_t length = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  require(!text.empty() && error == std::errc() && length <= response.body.size(),
          "an answer without binary tensors");
  Tensors tensors;
  tensors.head = json::parse(response.body.substr(0, length), nullptr, false);
  require(tensors.head.is_object() && tensors.head.contains("outputs") &&
              tensors.head["outputs"].is_array(),
          "an answer whose head is no JSON of the protocol");
  std::string_view rest = std::string_view(response.body).substr(length);
  for (const json& output : tensors.head["outputs"]) {
    const std::size_t size = output.at("parameters").at("binary_data_size").get<std::size_t>();
    require(size <= rest.size(), "an answer that is shorter than it says");
    const std::string name = output.at("name").get<std::string>();
    tensors.bytes[name] = rest.substr(0, size);
    tensors.types[name] = output.at("datatype").get<std::string>();
    rest.remove_prefix(size);
  }
  return tensors;
}

}  // namespace

class TaggingClient::Implementation {
 public:
  explicit Implementation(ClientOptions options)
      : options_(std::move(options)),
        random_(options_.seed != 0 ? options_.seed : std::random_device{}()) {
    if (options_.servers.empty()) {
      throw std::invalid_argument("no server to ask; give a URL such as http://HOST:8000");
    }
    if (!options_.certificates.empty() && !std::ifstream(options_.certificates).is_open()) {
      throw std::invalid_argument("the certificates in " + options_.certificates +
                                  " cannot be opened; give a PEM file that you may read");
    }
    for (std::string& server : options_.servers) {
      while (server.ends_with('/')) {
        server.pop_back();
      }
      const bool url = server.starts_with("http://") || server.starts_with("https://");
      auto client = std::make_unique<httplib::Client>(url ? server : std::string());
      if (!url || !client->is_valid() || server.find('/', 8) != std::string::npos) {
        throw std::invalid_argument("'" + server +
                                    "' is no server; write http://HOST:PORT or https://HOST:PORT");
      }
      client->set_keep_alive(true);
      client->set_tcp_nodelay(true);
      client->set_connection_timeout(options_.connect_timeout);
      client->set_read_timeout(options_.timeout);
      client->set_write_timeout(options_.timeout);
      if (!options_.certificates.empty()) {
        client->set_ca_cert_path(options_.certificates);
      }
      if (!options_.token.empty()) {
        client->set_default_headers({{"Authorization", "Bearer " + options_.token}});
      }
      clients_.push_back(std::move(client));
    }
  }

  RemoteModel model() {
    RemoteModel model;
    ask([&](httplib::Client& client) { return client.Get(path() + "/config"); },
        [&](const httplib::Response& response, const std::string&) {
          const json config = json::parse(response.body, nullptr, false);
          require(config.is_object() && config.contains("parameters"), "a config that is none");
          const auto text = [&](const char* name) {
            return config["parameters"].at(name).at("string_value").get<std::string>();
          };
          model.name = config.at("name").get<std::string>();
          model.version = options_.version;
          model.weights = text("weights");
          model.rows = std::stoull(text("rows"));
          model.columns = std::stoull(text("columns"));
          model.downsample = std::stoi(text("downsample"));
          model.img_transform = text("img_transform") == "true";
        });
    return model;
  }

  RemoteTags tag(const data::SparseImage& image) {
    const std::string body = body_of(image);
    RemoteTags tags;
    const httplib::Headers headers{
        {"Inference-Header-Content-Length", std::to_string(json_length_)}};
    ask(
        [&](httplib::Client& client) {
          return client.Post(path() + "/infer", headers, body, "application/octet-stream");
        },
        [&](const httplib::Response& response, const std::string& server) {
          tags = tags_in(tensors_in(response), image, server);
        });
    return tags;
  }

 private:
  std::string path() const {
    return "/v2/models/" + options_.model +
           (options_.version.empty() ? "" : "/versions/" + options_.version);
  }

  std::string body_of(const data::SparseImage& image) {
    std::vector<std::uint8_t> planes;
    std::vector<std::int32_t> indices;
    std::vector<float> charges;
    for (std::size_t plane = 0; plane < image.size(); ++plane) {
      planes.insert(planes.end(), image[plane].ids.size(), static_cast<std::uint8_t>(plane));
      for (const std::uint64_t id : image[plane].ids) {
        indices.push_back(static_cast<std::int32_t>(id));
      }
      charges.insert(charges.end(), image[plane].values.begin(), image[plane].values.end());
    }
    json head{{"parameters", {{"binary_data_output", true}}}};
    std::string tensors;
    const auto add = [&](const char* name, const char* type, const auto& values) {
      const std::size_t before = tensors.size();
      append(tensors, values);
      head["inputs"].push_back({{"name", name},
                                {"datatype", type},
                                {"shape", {values.size()}},
                                {"parameters", {{"binary_data_size", tensors.size() - before}}}});
    };
    add("plane", "UINT8", planes);
    add("index", "INT32", indices);
    add("charge", "FP32", charges);
    for (const char* const output : {"pixel_tag", "pixel_cosmic", "pixel_neutrino"}) {
      head["outputs"].push_back({{"name", output}, {"parameters", {{"binary_data", true}}}});
    }
    const std::string text = head.dump();
    json_length_ = text.size();
    return text + tensors;
  }

  static RemoteTags tags_in(const Tensors& tensors, const data::SparseImage& image,
                            const std::string& server) {
    RemoteTags tags;
    std::size_t pixels = 0;
    for (const data::SparsePlane& plane : image) {
      pixels += plane.ids.size();
    }
    const auto bytes_of = [&](const char* name, const char* type, std::size_t width) {
      require(tensors.bytes.contains(name) && tensors.types.at(name) == type &&
                  tensors.bytes.at(name).size() == pixels * width,
              "an answer without the scores that were asked for");
      return tensors.bytes.at(name);
    };
    const std::string_view tag = bytes_of("pixel_tag", "UINT8", 1);
    const std::string_view cosmic = bytes_of("pixel_cosmic", "FP32", sizeof(float));
    const std::string_view neutrino = bytes_of("pixel_neutrino", "FP32", sizeof(float));
    std::size_t next = 0;
    for (std::size_t plane = 0; plane < image.size(); ++plane) {
      const std::size_t count = image[plane].ids.size();
      for (data::SparseImage* const scores : {&tags.tag, &tags.cosmic, &tags.neutrino}) {
        (*scores)[plane].meta = image[plane].meta;
        (*scores)[plane].ids = image[plane].ids;
        (*scores)[plane].values.resize(count);
      }
      for (std::size_t i = 0; i < count; ++i) {
        const auto label = static_cast<std::uint8_t>(tag[next + i]);
        require(label <= static_cast<std::uint8_t>(data::Label::neutrino),
                "a tag that is no label");
        tags.tag[plane].values[i] = static_cast<float>(label);
      }
      const auto copy = [&](std::string_view from, std::vector<float>& to) {
        if (count > 0) {
          std::memcpy(to.data(), from.data() + next * sizeof(float), count * sizeof(float));
        }
        require(std::all_of(to.begin(), to.end(), [](float p) { return p >= 0 && p <= 1; }),
                "a probability that is none");
      };
      copy(cosmic, tags.cosmic[plane].values);
      copy(neutrino, tags.neutrino[plane].values);
      next += count;
    }
    tags.weights = tensors.head.at("parameters").at("weights").get<std::string>();
    tags.computed_by = server + " " + tensors.head.at("model_name").get<std::string>() +
                       " version " + tensors.head.at("model_version").get<std::string>() +
                       " (weights " + tags.weights + ")";
    return tags;
  }

  /// Asks until a server has answered and its answer was taken.
  template <class Ask, class Take>
  void ask(const Ask& send, const Take& take) {
    std::string last = "no attempt was made";
    std::chrono::milliseconds pause = options_.first_pause;
    for (int attempt = 0; attempt < options_.attempts; ++attempt) {
      const std::size_t which = current_;
      const std::string& server = options_.servers[which];
      bool asked_all = false;
      std::optional<std::chrono::milliseconds> server_wants;
      const httplib::Result result = send(*clients_[which]);
      if (!result && result.error() == httplib::Error::SSLServerVerification) {
        throw Untrusted(server + ": its certificate is not signed by anybody who is trusted here");
      }
      if (!result && result.error() == httplib::Error::SSLLoadingCerts) {
        throw std::invalid_argument("there are no certificates in " + options_.certificates +
                                    "; give a PEM file");
      }
      if (!result) {
        last = server + ": " + explained(result.error(), server.starts_with("https"));
      } else if (result->status == 200) {
        try {
          take(*result, server);
          return;
        } catch (const Unusable& error) {
          last = server + ": " + error.what();
        } catch (const json::exception&) {
          last = server + ": an answer that is not of the protocol";
        } catch (const std::logic_error&) {  // of std::stoi
          last = server + ": a config with numbers that are none";
        }
      } else if (worth_another_try(result->status)) {
        last = server + ": " + std::to_string(result->status) + ", " + error_in(result->body);
        const std::string hint = result->get_header_value("Retry-After");
        int seconds = 0;
        const auto [end, error] = std::from_chars(hint.data(), hint.data() + hint.size(), seconds);
        if (error == std::errc() && seconds >= 0) {
          server_wants = std::chrono::seconds(std::min(seconds, 60));
        }
      } else {
        throw Refused(result->status, server + ": " + error_in(result->body));
      }
      if (options_.tell) {
        options_.tell(last);
      }
      current_ = (current_ + 1) % clients_.size();
      asked_all = current_ == 0 || clients_.size() == 1;
      if (asked_all && attempt + 1 < options_.attempts) {  // otherwise the next one may have time
        // Half of it at random, so that a thousand clients do not come back at once.
        std::uniform_real_distribution<double> jitter(0.5, 1.0);
        std::chrono::milliseconds wait(
            static_cast<std::int64_t>(static_cast<double>(pause.count()) * jitter(random_)));
        if (server_wants && clients_.size() == 1) {
          const std::chrono::milliseconds least = std::min(*server_wants, options_.longest_pause);
          wait += least;  // which all clients were told
        }
        std::this_thread::sleep_for(wait);
        pause = std::min(pause * 2, options_.longest_pause);
      }
    }
    throw Unreachable(last);
  }

  ClientOptions options_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<httplib::Client>> clients_;
  std::size_t current_ = 0;  ///< the server that answered last
  std::size_t json_length_ = 0;
};

TaggingClient::TaggingClient(ClientOptions options)
    : implementation_(std::make_unique<Implementation>(std::move(options))) {}
TaggingClient::~TaggingClient() = default;
TaggingClient::TaggingClient(TaggingClient&&) noexcept = default;
TaggingClient& TaggingClient::operator=(TaggingClient&&) noexcept = default;

RemoteModel TaggingClient::model() {
  return implementation_->model();
}

RemoteTags TaggingClient::tag(const data::SparseImage& image) {
  return implementation_->tag(image);
}

}  // namespace cosmic::serve::client
