#include "view/view_service.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "scratch_folder.hpp"
#include "view/exported_page.hpp"
#include "view/page_library.hpp"
#include "view/tagged_file.hpp"

namespace cosmic::view {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class Service : public testing::Test {
 protected:
  Service() {
    write_events(folder_ / "a.h5", 3, Predictions::of_stored_pixels);
    store_.emplace(StoreOptions{.files = {folder_ / "a.h5"}});
    service_.emplace(&*store_, std::vector<RunFollower*>{});
  }

  Answer get(const std::string& path, std::map<std::string, std::string> query = {}) {
    return service_->answer({path, std::move(query)});
  }
  /// When all events have been looked at.
  json index() {
    json page;
    do {
      page = json::parse(get("/api/events").body);
    } while (page["ready"] != page["total"]);
    return page;
  }

  ScratchFolder folder_{"view"};
  std::optional<EventStore> store_;
  std::optional<ViewService> service_;
};

TEST_F(Service, tells_what_there_is_to_see) {
  const json session = json::parse(get("/api/session").body);
  EXPECT_EQ(session["events"], 3);
  EXPECT_EQ(session["labelled"], true);
  EXPECT_EQ(session["networks"], json({"a.h5"}));
  EXPECT_EQ(session["heat"].get<std::string>().size(), 256U * 6);
}

TEST_F(Service, lists_every_event_with_what_the_list_sorts_by) {
  const json page = index();
  ASSERT_EQ(page["rows"].size(), 3U);
  const auto column = [&](const std::string& name) {
    const json& columns = page["columns"];
    return std::find(columns.begin(), columns.end(), name) - columns.begin();
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const json& row = page["rows"][i];
    ViewedEvent event;
    EventStore::Reader(*store_).read(static_cast<std::int64_t>(i), event);
    const EventSummary summary = summary_of(event);
    EXPECT_EQ(row.size(), page["columns"].size());
    EXPECT_EQ(row[column("entry")], i);
    EXPECT_EQ(row[column("neutrino")], summary.neutrino);
    EXPECT_EQ(row[column("missed")], summary.networks[0].missed);
    EXPECT_EQ(row[column("false")], summary.networks[0].wrong);
    EXPECT_EQ(row[column("energy")], 1.5);
    EXPECT_EQ(row[column("interaction")], "numu");
    EXPECT_NEAR(row[column("iou")].get<double>(), summary.networks[0].neutrino_iou, 1e-4);
  }
}

TEST_F(Service, lists_pages_of_events) {
  index();
  const json page = json::parse(get("/api/events", {{"from", "1"}, {"count", "1"}}).body);
  ASSERT_EQ(page["rows"].size(), 1U);
  EXPECT_EQ(page["rows"][0][0], 1);
  EXPECT_TRUE(json::parse(get("/api/events", {{"from", "99"}}).body)["rows"].empty());
}

TEST_F(Service, gives_the_pixels_of_an_event_as_flat_arrays) {
  const Answer answer = get("/api/event", {{"entry", "2"}});
  ASSERT_EQ(answer.status, 200);
  const data::SparseEvent event = viewed_event(2);
  std::size_t at = 0;
  const auto take = [&]<class Value>(std::vector<Value> values) {
    EXPECT_EQ(at % 4, 0U);
    std::memcpy(values.data(), answer.body.data() + at, values.size() * sizeof(Value));
    at += (values.size() * sizeof(Value) + 3) / 4 * 4;
    return values;
  };
  const std::uint32_t bytes = take(std::vector<std::uint32_t>(1))[0];
  const json header = json::parse(answer.body.substr(at, bytes));
  at += bytes;
  EXPECT_EQ(header["entry"], 2);
  EXPECT_EQ(header["id"], json({1, 2, 2}));
  for (std::size_t plane = 0; plane < 3; ++plane) {
    const data::SparsePlane& image = event.image[plane];
    const std::size_t count = image.ids.size();
    ASSERT_EQ(header["planes"][plane]["pixels"], count);
    EXPECT_EQ(header["planes"][plane]["columns"], 64);
    EXPECT_EQ(take(std::vector<std::uint32_t>(count)),
              std::vector<std::uint32_t>(image.ids.begin(), image.ids.end()));
    EXPECT_EQ(take(std::vector<float>(count)), image.values);
    const std::vector<float>& labels = event.labels[plane].values;
    EXPECT_EQ(take(std::vector<std::uint8_t>(count)),
              std::vector<std::uint8_t>(labels.begin(), labels.end()));
    take(std::vector<std::uint8_t>(count));  // tags
    take(std::vector<float>(count));
    EXPECT_EQ(take(std::vector<float>(count)).back(), neutrino_score(image.ids.back()));
  }
  EXPECT_EQ(at, answer.body.size());
}

TEST_F(Service, serves_every_file_of_the_page) {
  for (const PageFile& file : page_files()) {
    if (file.name != "index.html") {
      EXPECT_EQ(get("/" + std::string(file.name)).body, file.text) << file.name;
    }
  }
  EXPECT_THAT(get("/").body, HasSubstr("src=\"main.js\""));
  EXPECT_THAT(get("/common.css").body, HasSubstr("--ink"));
}

TEST_F(Service, has_nothing_at_other_addresses) {
  for (const char* const path :
       {"/../a.h5", "/a.h5", "//etc/passwd", "/index.html", "/page/main.js", "/api", "/api/run", "",
        "/%2e%2e/a.h5", "/main.js/"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
}

TEST_F(Service, refuses_numbers_that_are_none) {
  for (const char* const entry : {"-1", "x", "", "1e3", "99999999999999999999", "3"}) {
    EXPECT_EQ(get("/api/event", {{"entry", entry}}).status, 400) << entry;
  }
  EXPECT_EQ(get("/api/events", {{"from", "x"}}).status, 400);
  EXPECT_EQ(get("/export.html", {{"events", "1,,2"}}).status, 400);
  EXPECT_EQ(get("/export.html").status, 400);
}

TEST_F(Service, exports_chosen_events_in_one_file_that_names_no_other) {
  const Answer page = get("/export.html", {{"events", "2,0"}});
  ASSERT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("id=\"exported\""));
  EXPECT_THAT(page.body, Not(HasSubstr("src=\"main.js\"")));
  EXPECT_THAT(page.body, Not(HasSubstr("href=\"style.css\"")));
  EXPECT_THAT(page.body, Not(HasSubstr("http://")));
  EXPECT_THAT(page.body, Not(HasSubstr("https://")));
}

TEST(ParseEntries, takes_numbers_with_commas_alone) {
  EXPECT_EQ(parse_entries("3,7,12"), (std::vector<std::int64_t>{3, 7, 12}));
  for (const char* const text : {"3,", ",3", "3;4", "-3", "3, 4", "a"}) {
    EXPECT_THAT([&] { parse_entries(text); }, ThrowsMessage<UserError>(HasSubstr("3,7,12")))
        << text;
  }
}

// One event of a file that cannot be read must not take the others away.
TEST(EventIndex, says_of_an_event_that_cannot_be_read_why) {
  const ScratchFolder folder("view");
  write_events(folder / "a.h5", 2, Predictions::of_stored_pixels);
  write_events(folder / "b.h5", 2, Predictions::of_stored_pixels, 1);
  const EventStore store({.files = {folder / "a.h5"}, .compared = {folder / "b.h5"}});
  const EventIndex index(store);
  index.wait();
  const json page = json::parse(index.page(0, 10));
  ASSERT_EQ(page["rows"].size(), 2U);
  EXPECT_EQ(page["rows"][0].size(), 2U);
  EXPECT_THAT(page["rows"][0][1].get<std::string>(), HasSubstr("another event"));
}

}  // namespace
}  // namespace cosmic::view
