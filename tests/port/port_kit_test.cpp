// What a port kit holds and what it refuses, without a Python to run it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "checkpoint/onnx/network_cases.hpp"
#include "core/error.hpp"
#include "port/kit_for_test.hpp"
#include "session/safetensors.hpp"

namespace cosmic::port {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class PortKit : public testing::Test {
 protected:
  KitRequest request(const std::vector<std::string>& words = {}) const {
    std::vector<std::string> all = words_of(checkpoint::onnx::reduced("a21"));
    all.push_back("data=synthetic");
    all.insert(all.end(), words.begin(), words.end());
    return {.source = {.settings = all}, .output = kit_, .rows = 16, .columns = 24};
  }
  nlohmann::json settings() const {
    return nlohmann::json::parse(content_of(kit_ / "settings.json"));
  }

  ScratchFolder folder_;
  std::filesystem::path kit_ = folder_ / "kit";
};

TEST_F(PortKit, holds_the_configuration_under_its_own_names) {
  write_kit(request({"mode.optimizer.beta1=0.8", "run.minibatch_size=5"}));
  const nlohmann::json configuration = settings()["configuration"];
  EXPECT_EQ(configuration["mode"]["optimizer"]["beta1"], 0.8);
  EXPECT_EQ(configuration["run"]["minibatch_size"], 5);
  EXPECT_EQ(configuration["network"]["connections"], "sum");
  EXPECT_EQ(settings()["image"]["columns"], 24);
}

TEST_F(PortKit, begins_with_an_untrained_network_unless_weights_are_given) {
  write_kit(request());
  EXPECT_EQ(settings()["weights"]["file"], "untrained");
  const session::NamedTensors untrained =
      session::load_tensors(kit_ / "weights.safetensors").tensors;
  const model::UResNet network(checkpoint::onnx::reduced("a21"));
  session::save_weights(folder_ / "given.safetensors",
                        *checkpoint::onnx::trained_model(network).state());
  KitRequest given = request();
  given.source.weights = folder_ / "given.safetensors";
  given.existing = Existing::replace;
  write_kit(given);
  EXPECT_EQ(settings()["weights"]["file"], "given.safetensors");
  const session::NamedTensors trained = session::load_tensors(kit_ / "weights.safetensors").tensors;
  EXPECT_EQ(trained.size(), untrained.size());
  EXPECT_NE(trained.at("bottleneck.bias").bytes, untrained.at("bottleneck.bias").bytes);
}

TEST_F(PortKit, has_the_network_of_its_own_dimension_alone) {
  write_kit(request());
  EXPECT_THAT(content_of(kit_ / "network.py"),
              AllOf(HasSubstr("Conv2d"), Not(HasSubstr("Conv3d"))));
  KitRequest three = request({"network.conv_mode=conv_3D"});
  three.existing = Existing::replace;
  write_kit(three);
  EXPECT_THAT(content_of(kit_ / "network.py"), HasSubstr("Conv3d"));
}

TEST_F(PortKit, leaves_no_place_of_its_readme_open) {
  write_kit(request());
  EXPECT_THAT(content_of(kit_ / "README.md"), AllOf(HasSubstr("untrained"), Not(HasSubstr("{{"))));
}

TEST_F(PortKit, replaces_no_file_unless_asked) {
  write_kit(request());
  std::ofstream(kit_ / "loss.py") << "mine";
  EXPECT_THAT([&] { write_kit(request()); }, ThrowsMessage<UserError>(HasSubstr("kit/")));
  EXPECT_EQ(content_of(kit_ / "loss.py"), "mine");
}

TEST_F(PortKit, refuses_events_that_only_this_program_makes) {
  EXPECT_THAT([&] { write_kit(request({"data=detector"})); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("data=detector"), HasSubstr("cosmictagger generate"))));
  EXPECT_FALSE(std::filesystem::exists(kit_));
}

TEST_F(PortKit, refuses_ways_to_exchange_that_it_does_not_have) {
  for (const char* const setting :
       {"network.synchronized_statistics=true", "run.exchange_precision=bfloat16",
        "run.gradient_reduction=sum"}) {
    EXPECT_THAT([&] { write_kit(request({setting})); },
                ThrowsMessage<UserError>(AllOf(HasSubstr(setting), HasSubstr("port kit"))));
  }
  EXPECT_FALSE(std::filesystem::exists(kit_));
}

TEST_F(PortKit, refuses_an_image_that_the_network_cannot_halve) {
  KitRequest odd = request();
  odd.rows = 17;
  EXPECT_THAT([&] { write_kit(odd); }, ThrowsMessage<UserError>(HasSubstr("17 x 24")));
}

TEST_F(PortKit, refuses_weights_of_another_network) {
  const model::UResNet network(checkpoint::onnx::reduced("uresnet"));
  session::save_weights(folder_ / "given.safetensors",
                        *checkpoint::onnx::trained_model(network).state());
  KitRequest given = request();
  given.source.weights = folder_ / "given.safetensors";
  EXPECT_THROW(write_kit(given), DataError);
  EXPECT_FALSE(std::filesystem::exists(kit_));
}

TEST_F(PortKit, is_python_as_people_write_it) {
  write_kit(request());
  for (const auto& entry : std::filesystem::directory_iterator(kit_)) {
    if (entry.path().extension() != ".py") {
      continue;
    }
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      EXPECT_LE(line.size(), 79U) << entry.path() << ": " << line;
      EXPECT_THAT(line, Not(HasSubstr("\t"))) << entry.path();
      EXPECT_FALSE(line.ends_with(' ')) << entry.path() << ": " << line;
    }
  }
}

}  // namespace
}  // namespace cosmic::port
