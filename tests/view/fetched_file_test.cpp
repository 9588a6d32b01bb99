#include "view/fetched_file.hpp"

#include <gmock/gmock.h>

#include <memory>

#include "core/error.hpp"
#include "run_command.hpp"
#include "scratch_folder.hpp"
#include "web_server.hpp"

namespace cosmic::view {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::size_t kBytes = 300'000;

bool always(std::uint64_t, std::uint64_t) {
  return true;
}

/// A file, a part of one, and a way to it.
void answer_with_files(httplib::Server& server) {
  server.Get("/whole.h5", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(std::string(kBytes, 'x'), "application/octet-stream");
  });
  server.Get("/moved.h5", [](const httplib::Request&, httplib::Response& response) {
    response.set_redirect("/whole.h5");
  });
  server.Get("/part.h5", [](const httplib::Request&, httplib::Response& response) {
    response.set_content_provider(kBytes, "application/octet-stream",
                                  [](std::size_t offset, std::size_t, httplib::DataSink& sink) {
                                    return offset == 0 &&
                                           sink.write(std::string(1000, 'x').data(), 1000);
                                  });
  });
}

class FetchedFile : public testing::Test {
 protected:
  std::string url(const std::string& path) const { return server_->url(path); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()),
                      std::filesystem::directory_iterator()));
  }

  std::unique_ptr<WebServer> server_ = std::make_unique<WebServer>(answer_with_files);
  const ScratchFolder folder_{"fetched"};
};

TEST_F(FetchedFile, is_whole_and_has_the_name_of_its_address) {
  for (const char* const path : {"/whole.h5?version=2#event=3", "/moved.h5"}) {
    const std::filesystem::path file = fetch_file(url(path), folder_.path(), always);
    EXPECT_EQ(file.parent_path(), folder_.path());
    EXPECT_EQ(content_of(file), std::string(kBytes, 'x'));
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "whole.h5"));
}

TEST_F(FetchedFile, is_not_there_if_the_server_does_not_give_all_of_it) {
  EXPECT_THAT([&] { fetch_file(url("/none.h5"), folder_.path(), always); },
              ThrowsMessage<DataError>(HasSubstr("status 404")));
  EXPECT_THAT([&] { fetch_file(url("/part.h5"), folder_.path(), always); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("ended after 1000 of 300000 bytes"), HasSubstr("try again"))));
  EXPECT_EQ(files(), 0U);
}

TEST_F(FetchedFile, is_not_there_if_nobody_answers) {
  const std::string gone = url("/whole.h5");
  server_.reset();
  EXPECT_THAT([&] { fetch_file(gone, folder_.path(), always); },
              ThrowsMessage<DataError>(HasSubstr("does the server run")));
  EXPECT_EQ(files(), 0U);
}

TEST_F(FetchedFile, is_given_up_when_nobody_waits_for_it) {
  std::uint64_t most = 0;
  const std::filesystem::path file =
      fetch_file(url("/whole.h5"), folder_.path(), [&](std::uint64_t, std::uint64_t all) {
        most = all;
        return false;
      });
  EXPECT_EQ(most, kBytes);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(FetchedFile, needs_the_address_of_a_file) {
  for (const char* const address :
       {"http://127.0.0.1:8420/#event=3", "http://127.0.0.1", "http:///x.h5", "http://host/a/.."}) {
    EXPECT_THAT([&] { fetch_file(address, folder_.path(), always); },
                ThrowsMessage<UserError>(HasSubstr("not the address of a file")))
        << address;
  }
  EXPECT_TRUE(is_url("https://host/x.h5"));
  EXPECT_FALSE(is_url("http.h5"));
}

}  // namespace
}  // namespace cosmic::view
