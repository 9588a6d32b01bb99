// Whole inferences, file in, file out, on files that are not what they should be.
#include <gmock/gmock.h>
#include <hdf5.h>
#include <sys/resource.h>

#include <csignal>

#include "core/error.hpp"
#include "core/random.hpp"
#include "data/larcv/read_everything.hpp"
#include "data/larcv/written_content.hpp"
#include "infer/inference.hpp"
#include "scratch_folder.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::infer {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class HostileInput : public testing::Test {
 protected:
  HostileInput() {
    write_random_events(folder() / "train.h5", 2, 1);
    train::train(tiny_configuration(folder(), config::Mode::train,
                                    {"data.aux_file=none.h5", "run.length=1"}),
                 "cpu", log_.log());
    data::larcv::EventFileWriter writer(folder() / "input.h5");
    for (std::int64_t number = 0; number < 2; ++number) {
      write(writer, data::larcv::some_event(number, data::grid_of(16, 32)));
    }
    writer.commit();
  }

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path output() const { return folder() / "out" / "predictions.h5"; }
  std::string log() const { return log_.text(); }

  /// "" or the error; any other exception fails the test.
  std::string infer_file(const std::string& name) {
    std::filesystem::remove(output());
    try {
      infer(tiny_configuration(folder(), config::Mode::inference, {"data.file=" + name}), "cpu",
            log_.log(), {}, {.existing = Existing::replace});
      return "";
    } catch (const DataError& error) {
      return error.what();
    } catch (const UserError& error) {
      return error.what();
    }
  }

 private:
  RunFolder folder_;
  KeptLog log_;
};

// Of 250 such files four crashed the HDF5 library, which copied the products.
TEST_F(HostileInput, with_one_flipped_bit_is_tagged_or_refused) {
  constexpr int kFlips = 300;
  const std::string sound = content_of(folder() / "input.h5");
  RandomStream random(15, "flips");
  int tagged = 0;
  for (int flip = 0; flip < kFlips; ++flip) {
    std::string bytes = sound;
    const std::uint64_t bit = random.next() % (8 * bytes.size());
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    std::ofstream(folder() / "flipped.h5", std::ios::binary) << bytes;
    const std::string error = infer_file("flipped.h5");
    ASSERT_EQ(std::filesystem::exists(output()), error.empty()) << "bit " << bit << ": " << error;
    if (error.empty()) {
      ++tagged;
      data::larcv::ReadWarnings warnings;
      const data::larcv::EventFile written(output(), warnings);
      EXPECT_EQ(written.size(), 2) << "bit " << bit;
      EXPECT_TRUE(written.has({"sparse2d", "cosmic_prediction"})) << "bit " << bit;
    }
  }
  EXPECT_GT(tagged, kFlips / 10);
  EXPECT_LT(tagged, kFlips);
}

TEST_F(HostileInput, with_a_link_to_another_file_is_tagged_and_the_log_names_the_link) {
  const hid_t file = H5Fopen((folder() / "input.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  ASSERT_GE(H5Lcreate_external("secret.h5", "/x", file, "/Data/sparse2d_linked_group", H5P_DEFAULT,
                               H5P_DEFAULT),
            0);
  ASSERT_GE(H5Fclose(file), 0);
  EXPECT_EQ(infer_file("input.h5"), "");
  EXPECT_THAT(log(), AllOf(HasSubstr("left out: 1"), HasSubstr("/Data/sparse2d_linked_group"),
                           HasSubstr("an external link")));
  EXPECT_THAT(content_of(output()), testing::Not(HasSubstr("secret.h5")));
}

TEST_F(HostileInput, on_a_disk_that_takes_no_more_is_an_error_that_names_the_file) {
  ASSERT_EQ(infer_file("input.h5"), "");
  const std::uint64_t whole = std::filesystem::file_size(output());
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const std::uint64_t most : {std::uint64_t{100}, whole / 2, whole - 1}) {
    const rlimit limit{most, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string error = infer_file("input.h5");
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_THAT(error, AllOf(HasSubstr("predictions.h5: cannot be written (File too large)"),
                             HasSubstr("nothing incomplete is left")));
    EXPECT_FALSE(std::filesystem::exists(output()));
    for (const auto& entry : std::filesystem::directory_iterator(folder() / "out")) {
      EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("partial")));
    }
  }
  std::signal(SIGXFSZ, handler);
}

}  // namespace
}  // namespace cosmic::infer
