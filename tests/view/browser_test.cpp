// The display as a browser shows it: the program serves, Chromium looks, and browser.mjs says for
// each of these tests whether it is so.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/background_program.hpp"
#include "data/larcv/larcv_source.hpp"
#include "run_command.hpp"
#include "scratch_folder.hpp"
#include "view/tagged_file.hpp"

namespace cosmic::view {
namespace {

const std::filesystem::path kProgram = COSMICTAGGER_PROGRAM;
const std::filesystem::path kModules = COSMIC_PLAYWRIGHT;

enum class Truth { kept, left_out };

/// Events of full resolution, with scores that follow the labels but for some mistakes.
void write_tagged(const std::filesystem::path& from, const std::filesystem::path& to, Truth truth) {
  const data::larcv::LarcvSource source({.files = {from}});
  const auto reader = source.reader();
  data::larcv::EventFileWriter writer(to);
  data::SparseEvent event;
  for (std::int64_t entry = 0; entry < source.size(); ++entry) {
    reader->read(entry, event);
    writer.begin_event(event.id);
    writer.write_sparse("sbndwire", event.image);
    if (truth == Truth::kept) {
      writer.write_sparse("sbnd_cosmicseg", event.labels);
    }
    data::SparseImage cosmic = event.labels;
    data::SparseImage neutrino = event.labels;
    for (std::size_t plane = 0; plane < event.labels.size(); ++plane) {
      for (std::size_t i = 0; i < event.labels[plane].values.size(); ++i) {
        const auto mistake = static_cast<float>(event.labels[plane].ids[i] % 10) / 10;
        const float label = event.labels[plane].values[i];
        neutrino[plane].values[i] = label == 2 ? 1 - mistake : mistake / 2;
        cosmic[plane].values[i] = (1 - neutrino[plane].values[i]) * (label == 1 ? 0.9F : 0.2F);
      }
    }
    writer.write_sparse(data::larcv::kPixelTag, data::larcv::tags_of(cosmic, neutrino));
    writer.write_sparse(data::larcv::kPixelCosmic, cosmic);
    writer.write_sparse(data::larcv::kPixelNeutrino, neutrino);
  }
  writer.commit();
}

/// The same four times, beside and above each other: images of twice the size both ways.
data::SparsePlane four_times(const data::SparsePlane& plane) {
  const std::uint64_t columns = plane.meta.columns();
  const std::uint64_t rows = plane.meta.rows();
  std::map<std::uint64_t, float> pixels;
  for (std::size_t i = 0; i < plane.ids.size(); ++i) {
    for (const std::uint64_t right : {std::uint64_t{0}, columns}) {
      for (const std::uint64_t up : {std::uint64_t{0}, rows}) {
        pixels[(plane.ids[i] / rows + right) * 2 * rows + plane.ids[i] % rows + up] =
            plane.values[i];
      }
    }
  }
  data::SparsePlane large;
  large.meta = plane.meta;
  large.meta.pixels = {2 * columns, 2 * rows};
  for (const auto& [id, value] : pixels) {
    large.ids.push_back(id);
    large.values.push_back(value);
  }
  return large;
}

void write_large(const std::filesystem::path& from, const std::filesystem::path& to) {
  const data::larcv::LarcvSource source({.files = {from}});
  data::SparseEvent event;
  source.reader()->read(1, event);
  for (data::SparseImage* const image : {&event.image, &event.labels}) {
    std::transform(image->begin(), image->end(), image->begin(), four_times);
  }
  data::larcv::EventFileWriter writer(to);
  writer.begin_event(event.id);
  writer.write_sparse("sbndwire", event.image);
  writer.write_sparse("sbnd_cosmicseg", event.labels);
  writer.commit();
}

/// `cosmictagger view` in the background.
class Viewer {
 public:
  Viewer(const ScratchFolder& folder, const std::string& name, std::vector<std::string> words)
      : printed_(folder / (name + ".log")),
        program_(kProgram, folder.path(), with_port(std::move(words)), printed_) {}

  /// The first line that it prints.
  std::string address() const {
    EXPECT_TRUE(comes_true([&] { return content_of(printed_).find("/\n") != std::string::npos; }))
        << content_of(printed_);
    const std::string printed = content_of(printed_);
    return printed.substr(0, printed.find('\n'));
  }

 private:
  static std::vector<std::string> with_port(std::vector<std::string> words) {
    words.insert(words.begin(), "view");
    words.insert(words.end(), {"--port", "0"});
    return words;
  }

  std::filesystem::path printed_;
  BackgroundProgram program_;
};

class Browser : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!missing().empty()) {
      return;
    }
    const ScratchFolder folder("browser");
    const auto run = [&](const std::string& words) {
      const CommandResult result = run_command("cd '" + folder.path().string() + "' && '" +
                                               kProgram.string() + "' " + words + " </dev/null");
      EXPECT_EQ(result.status, 0) << words << "\n" << result.output;
    };
    run("generate --events 3 --seed 3 --output made.h5 --threads 1");
    write_tagged(folder / "made.h5", folder / "tagged.h5", Truth::kept);
    write_tagged(folder / "made.h5", folder / "untold.h5", Truth::left_out);
    write_large(folder / "made.h5", folder / "large.h5");
    write_events(folder / "many.h5", 10'000, Predictions::none);
    for (const std::string network : {"best", "fast"}) {
      run("tag made.h5 --network " + network + " --output " + network + ".h5 run.threads=1");
    }
    run("data show tagged.h5 --event 1 --output picture.png");
    run("view tagged.h5 --export exported.html --events 2,0");
    run("explain network=a21 data.downsample=5 --all --output machines.html");
    run("explain network=a21 network.depth=3 data.downsample=5 run.compute_mode=HPU --profile "
        "explain.html");
    run("evaluate data.file=made.h5 run.id=evaluated output_dir=evaluated run.threads=1 "
        "run.minibatch_size=1 mode.weights_location='" +
        (std::filesystem::current_path() / "weights/fast.safetensors").string() + "'");
    for (const char* const name : {"first", "second"}) {
      std::filesystem::create_directories(folder / name);
      std::ofstream(folder / name / "train_metrics.csv") << "step,loss\n0,2.5\n1,1.25\n";
    }
    const Viewer viewer(folder, "tagged", {"tagged.h5"});
    const Viewer untold(folder, "untold", {"untold.h5"});
    const Viewer large(folder, "large", {"large.h5"});
    const Viewer many(folder, "many", {"many.h5"});
    const Viewer compared(folder, "compared", {"best.h5", "--compare", "fast.h5"});
    const Viewer runs(folder, "runs", {"first", "second", "--watch", "0"});
    const nlohmann::json given{
        {"server", viewer.address()},
        {"untold", untold.address()},
        {"large", large.address()},
        {"many", many.address()},
        {"compared", compared.address()},
        {"run", runs.address()},
        {"table", (folder / "first/train_metrics.csv").string()},
        {"exported", (folder / "exported.html").string()},
        {"picture", (folder / "picture.png").string()},
        {"pages",
         {(folder / "machines.html").string(), (folder / "explain.html").string(),
          (folder / "evaluated/evaluation.html").string()}}};
    said_ = run_command("HOME='" + folder.path().string() +
                        "' timeout 600 node tests/view/browser.mjs '" + kModules.string() + "' '" +
                        given.dump() + "'")
                .output;
    std::cout << said_;  // frame times are worth a look
  }

  void SetUp() override {
    if (const std::string what = missing(); !what.empty()) {
      GTEST_SKIP() << what;
    }
  }

  static std::string missing() {
    if (!has_program("chromium")) {
      return "needs a browser (package chromium)";
    }
    for (const char* const module : {"playwright-core", "axe-core"}) {
      if (!std::filesystem::exists(kModules / "node_modules" / module)) {
        return std::string("needs ") + module + " (npm, in build/playwright; .ci/run installs it)";
      }
    }
    return has_program("node") ? "" : "needs node (package nodejs)";
  }

  /// What the browser has to say about the test of this name.
  static void expect_ok() {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    EXPECT_THAT("\n" + said_, testing::HasSubstr("\nok " + name + "\n"));
  }

  static inline std::string said_;
};

// clang-format off
TEST_F(Browser, loads_from_its_own_address_without_complaint) { expect_ok(); }
TEST_F(Browser, does_not_move_while_it_loads) { expect_ok(); }
TEST_F(Browser, zooms_at_the_cursor_and_links_time) { expect_ok(); }
TEST_F(Browser, pans_by_dragging_and_by_keys) { expect_ok(); }
TEST_F(Browser, pans_and_zooms_by_touch) { expect_ok(); }
TEST_F(Browser, counts_missed_and_false_pixels_at_any_threshold) { expect_ok(); }
TEST_F(Browser, reads_out_the_pixel_under_the_cursor) { expect_ok(); }
TEST_F(Browser, reads_out_the_pixel_that_is_tapped) { expect_ok(); }
TEST_F(Browser, sorts_filters_and_steps_through_the_list) { expect_ok(); }
TEST_F(Browser, sorts_and_filters_by_truth_and_by_what_networks_missed) { expect_ok(); }
TEST_F(Browser, shows_where_two_networks_differ) { expect_ok(); }
TEST_F(Browser, shows_the_same_at_the_same_address) { expect_ok(); }
TEST_F(Browser, shows_the_same_in_an_exported_file) { expect_ok(); }
TEST_F(Browser, draws_what_data_show_draws) { expect_ok(); }
TEST_F(Browser, draws_the_same_with_and_without_a_graphics_card) { expect_ok(); }
TEST_F(Browser, begins_with_the_tags_and_leaves_out_what_can_do_nothing) { expect_ok(); }
TEST_F(Browser, shows_predictions_without_truth) { expect_ok(); }
TEST_F(Browser, gives_the_room_of_the_list_to_the_planes) { expect_ok(); }
TEST_F(Browser, saves_what_is_seen_as_png_and_pdf) { expect_ok(); }
TEST_F(Browser, follows_a_training) { expect_ok(); }
TEST_F(Browser, fits_phones_and_projectors) { expect_ok(); }
TEST_F(Browser, scrolls_tables_of_reports_on_phones) { expect_ok(); }
TEST_F(Browser, passes_an_accessibility_check) { expect_ok(); }
TEST_F(Browser, pans_full_resolution_frame_by_frame) { expect_ok(); }
TEST_F(Browser, pans_full_resolution_without_a_graphics_card) { expect_ok(); }
// clang-format on

}  // namespace
}  // namespace cosmic::view
