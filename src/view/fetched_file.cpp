#include "view/fetched_file.hpp"

#include <httplib.h>

#include <exception>
#include <span>

#include "core/error.hpp"
#include "core/pending_file.hpp"

namespace cosmic::view {
namespace {

constexpr int kConnectSeconds = 10;
constexpr int kSilentSeconds = 30;  // between two pieces of an answer
constexpr int kDone = 200;

/// "http://host:8000/data/events.h5?version=2#here" in parts.
struct Address {
  std::string server;  ///< http://host:8000
  std::string path;    ///< /data/events.h5?version=2
  std::string name;    ///< events.h5
};

Address address_of(const std::string& url) {
  const std::string sent = url.substr(0, url.find('#'));  // the rest is the browser's own
  const std::size_t host = sent.find("://") + 3;
  const std::size_t slash = std::min(sent.find('/', host), sent.size());
  Address address{sent.substr(0, slash), sent.substr(slash), ""};
  const std::string path = address.path.substr(0, address.path.find('?'));
  address.name = path.substr(path.find_last_of('/') + 1);
  COSMIC_REQUIRE(
      UserError,
      slash > host && !address.name.empty() && address.name != "." && address.name != "..",
      "'" << url
          << "' is not the address of a file (it would be fetched, and opened under the "
             "name that it has there); write for example "
             "http://HOST/FOLDER/events.h5. The address of a display that runs is for a "
             "browser");
  return address;
}

}  // namespace

bool is_url(std::string_view place) {
  return place.starts_with("http://") || place.starts_with("https://");
}

std::filesystem::path fetch_file(
    const std::string& url, const std::filesystem::path& folder,
    const std::function<bool(std::uint64_t got, std::uint64_t all)>& goes_on) {
  const Address address = address_of(url);
  httplib::Client client(address.server);
  COSMIC_REQUIRE(UserError, client.is_valid(),
                 "'" << url
                     << "' names no server that can be asked (nothing can be fetched); write "
                        "for example http://HOST/FOLDER/events.h5");
  client.set_follow_location(true);
  client.set_connection_timeout(kConnectSeconds);
  client.set_read_timeout(kSilentSeconds);
  PendingFile file(folder / address.name);
  int status = 0;
  std::uint64_t all = 0;
  bool wanted = true;
  std::exception_ptr failed;  // the library is not made to be thrown through
  const httplib::Result result = client.Get(
      address.path,
      [&](const httplib::Response& response) {
        status = response.status;
        all = response.get_header_value<std::uint64_t>("Content-Length");
        return true;
      },
      [&](const char* bytes, std::size_t count) {
        if (status != kDone) {
          return true;  // what the server says about it is not the file
        }
        try {
          file.append(std::as_bytes(std::span(bytes, count)));
          wanted = goes_on(file.bytes(), all);
        } catch (...) {
          failed = std::current_exception();
        }
        return wanted && failed == nullptr;
      });
  if (failed != nullptr) {
    std::rethrow_exception(failed);
  }
  if (!wanted) {
    return file.path();
  }
  COSMIC_REQUIRE(DataError, result || status == kDone,
                 url << ": cannot be fetched: " << httplib::to_string(result.error())
                     << " (there is nothing to view without it); does the server run, and can it "
                        "be reached from here?");
  COSMIC_REQUIRE(DataError, status == kDone || result->status == kDone,
                 url << ": the server answers with status " << result->status
                     << " (200 would come with the file); is the address right, and may everybody "
                        "read it?");
  COSMIC_REQUIRE(DataError, result && (all == 0 || file.bytes() == all),
                 url << ": ended after " << file.bytes() << " of " << all
                     << " bytes (events would be missing); try again");
  file.commit();
  return file.path();
}

}  // namespace cosmic::view
