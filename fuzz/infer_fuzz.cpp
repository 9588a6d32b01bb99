// Gives any bytes to `infer` as a file of events: it is opened, tagged by a tiny network, its
// products are copied beside the predictions, and what was written is read back. The only things
// that may happen are a DataError, a UserError, or a file that our reader reads. The network has
// random weights, saved and loaded as those of a training are.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/parse.hpp"
#include "core/error.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/larcv/read_everything.hpp"
#include "data/loader/batch_loader.hpp"
#include "data/sparse_events.hpp"
#include "infer/prediction_files.hpp"
#include "infer/tagger.hpp"
#include "memory_file.hpp"
#include "run/run_data.hpp"
#include "train/training.hpp"

namespace cosmic::infer {
namespace {

/// Larger images only take longer.
constexpr std::int64_t kMostRows = 64;
constexpr std::size_t kMostNetworks = 16;

std::vector<std::string> words(const std::filesystem::path& folder) {
  return {"network=a21",
          "network.n_initial_filters=1",
          "network.depth=1",
          "network.blocks_per_layer=1",
          "network.bottleneck_deepest=2",
          "network.blocks_deepest_layer=0",
          "network.blocks_final=0",
          "data.downsample=0",
          "data.threads=1",
          "run.threads=1",
          "run.id=fuzz",
          "run.seed=7",
          "run.minibatch_size=2",
          "output_dir=" + (folder / "out").string()};
}

class Inference {
 public:
  Inference() {
    const std::filesystem::path memory = "/dev/shm";  // files are synced, which takes long on disks
    folder_ =
        (std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path()) /
        ("cosmic_infer_fuzz_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    train_once();
    std::vector<std::string> all = words(folder_);
    all.push_back("data.file=" + input_.path().string());
    all.push_back("mode.output_file=" + output().string());
    configuration_ = config::parse(all, {.mode = config::Mode::inference}).configuration;
  }
  ~Inference() { std::filesystem::remove_all(folder_); }
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  void run(const std::uint8_t* data, std::size_t size) {
    input_.replace(data, size);
    std::filesystem::remove(output());
    try {
      tag();
    } catch (const DataError&) {
    } catch (const UserError&) {
    }
    if (std::filesystem::exists(output())) {
      read_back();
    }
  }

 private:
  std::filesystem::path output() const { return folder_ / "predictions.h5"; }

  void train_once() {
    {
      data::larcv::EventFileWriter writer(folder_ / "train.h5");
      for (std::int64_t i = 0; i < 2; ++i) {
        const data::SparseEvent event = data::random_event(data::grid_of(8, 8), 0.2, 1, i);
        writer.begin_event(event.id);
        writer.write_sparse("sbndwire", event.image);
        writer.write_sparse("sbnd_cosmicseg", event.labels);
      }
      writer.commit();
    }
    std::vector<std::string> all = words(folder_);
    all.insert(all.end(), {"data.data_directory=" + folder_.string(), "data.file=train.h5",
                           "data.aux_file=none.h5", "run.units=iteration", "run.length=1"});
    train::train(config::parse(all, {.mode = config::Mode::train}).configuration, "cpu", log_);
  }

  /// Made once for each size of images.
  Tagger& tagger(const data::DenseShape& shape) {
    COSMIC_REQUIRE(DataError, shape.rows <= kMostRows && shape.columns <= kMostRows,
                   "larger than needed");
    if (taggers_.size() == kMostNetworks) {
      taggers_.clear();
    }
    std::unique_ptr<Tagger>& found = taggers_[{shape.rows, shape.columns}];
    if (!found) {
      found = std::make_unique<Tagger>(configuration_, "cpu", shape, log_);
    }
    return *found;
  }

  /// What infer() does, with a network that is there already.
  void tag() {
    const std::unique_ptr<data::EventSource> source = run::open_events(configuration_);
    const data::DenseShape shape = data::dense_shape(source->meta(), 0);
    PredictionWriter writer(prediction_files(configuration_, folder_, *source, {0, source->size()}),
                            Existing::replace, log_);
    Tagger& network = tagger(shape);
    const data::EventSamples samples = run::one_pass_samples(*source, configuration_);
    data::BatchLoader loader(samples,
                             run::one_pass_options(configuration_, [](const std::string&) {}));
    std::int64_t events = 0;
    while (events < source->size()) {
      const data::Batch* const batch = loader.next();
      if (batch == nullptr) {
        std::abort();  // fewer events than there are
      }
      network.tag(*batch, [&](const TaggedEvent& event) {
        writer.write(event);
        event.confusion();
        ++events;
      });
    }
    writer.commit();
  }

  void read_back() const {
    try {
      const data::larcv::LarcvSource predictions({.files = {output()},
                                                  .image_producer = "cosmic_prediction",
                                                  .label_producer = "neutrino_prediction",
                                                  .labels = data::larcv::LabelUse::ignored});
      data::larcv::read_events(predictions);
    } catch (const DataError& error) {
      data::larcv::ReadWarnings warnings;
      if (data::larcv::EventFile(output(), warnings).size() > 0) {
        std::fprintf(stderr, "what was written cannot be read: %s\n", error.what());
        std::abort();
      }
    }
    // Products are copied as they are, so what is wrong inside them still is.
    data::larcv::ReadWarnings warnings;
    const data::larcv::EventFile file(output(), warnings);
    for (const data::larcv::ProductName& product : file.products()) {
      try {
        data::larcv::read_product(file, product, warnings);
      } catch (const DataError&) {
      }
    }
  }

  MemoryFile input_;
  std::filesystem::path folder_;
  output::RunLog log_{{}, [](const std::string&) {}};
  config::Configuration configuration_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Tagger>> taggers_;
};

}  // namespace
}  // namespace cosmic::infer

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static cosmic::infer::Inference inference;
  inference.run(data, size);
  return 0;
}
