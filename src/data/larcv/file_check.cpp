#include "data/larcv/file_check.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "data/larcv/box2d_reader.hpp"
#include "data/larcv/cluster2d_reader.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/fingerprint.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/particle_reader.hpp"
#include "data/larcv/sparse2d_reader.hpp"

namespace cosmic::data::larcv {
namespace {

/// Reads one product, event by event, for one thread.
class ProductCheck {
 public:
  virtual ~ProductCheck() = default;
  virtual void read(std::int64_t entry) = 0;
};

template <class Reader, class Content>
class ProductCheckOf final : public ProductCheck {
 public:
  template <class... Arguments>
  explicit ProductCheckOf(Arguments&&... arguments)
      : reader_(std::forward<Arguments>(arguments)...) {}

  void read(std::int64_t entry) override { reader_.read(entry, content_); }

 private:
  Reader reader_;
  Content content_;
};

/// Nothing for a type that this program does not read.
std::unique_ptr<ProductCheck> make_product_check(const EventFile& file, const ProductName& product,
                                                 ReadWarnings& warnings) {
  const std::string& producer = product.producer;
  if (product.type == kSparse2d) {
    return std::make_unique<ProductCheckOf<Sparse2dReader, SparseImage>>(
        file, producer, PixelMeaning::any, warnings);
  }
  if (product.type == kCluster2d) {
    return std::make_unique<ProductCheckOf<Cluster2dReader, ClusterPlanes>>(file, producer,
                                                                            warnings);
  }
  if (product.type == kParticle) {
    return std::make_unique<ProductCheckOf<ParticleReader, std::vector<Particle>>>(file, producer,
                                                                                   warnings);
  }
  if (product.type == kBox2d) {
    return std::make_unique<ProductCheckOf<Box2dReader, BoxPlanes>>(file, producer, warnings);
  }
  return nullptr;
}

/// What one thread finds in its share of the events.
struct Findings {
  std::array<PlaneStatistics, static_cast<std::size_t>(kPlanes)> planes;
  float least_charge = std::numeric_limits<float>::infinity();
  float greatest_charge = -std::numeric_limits<float>::infinity();
  std::int64_t empty_events = 0;
  std::int64_t events_without_neutrino = 0;
  std::int64_t negative_charges = 0;
  std::int64_t pixels = 0;
  std::int64_t unlabelled = 0;  ///< of them
  std::int64_t problem_count = 0;
  std::vector<std::string> problems;

  void add_problem(const std::string& text) {
    problem_count += 1;
    if (problems.size() < FileCheck::kMostProblems) {
      problems.push_back(text);
    }
  }

  void look_at(const SparseEvent& event) {
    std::size_t event_pixels = 0;
    std::int64_t neutrino = 0;
    for (std::size_t number = 0; number < planes.size(); ++number) {
      const SparsePlane& plane = event.image[number];
      event_pixels += plane.ids.size();
      planes[number].pixels += static_cast<std::int64_t>(plane.ids.size());
      for (const float charge : plane.values) {
        least_charge = std::min(least_charge, charge);
        greatest_charge = std::max(greatest_charge, charge);
        negative_charges += charge < 0 ? 1 : 0;
      }
      for (const float label : event.labels[number].values) {
        planes[number].labels.at(static_cast<std::size_t>(label)) += 1;
        neutrino += label == static_cast<float>(Label::neutrino) ? 1 : 0;
      }
    }
    pixels += static_cast<std::int64_t>(event_pixels);
    unlabelled += event.unlabelled_pixels;
    empty_events += event_pixels == 0 ? 1 : 0;
    events_without_neutrino += event.labelled && neutrino == 0 ? 1 : 0;
  }
};

/// What one thread reads with.
struct Reading {
  std::unique_ptr<EventReader> events;  ///< none if the image product cannot be used
  std::vector<std::unique_ptr<ProductCheck>> products;
  SparseEvent event;
  Findings findings;

  /// Reads one event of every product.
  void check(std::int64_t entry) {
    try_to([&] {
      if (events != nullptr) {
        events->read(entry, event);
        findings.look_at(event);
      }
    });
    for (const auto& product : products) {
      try_to([&] { product->read(entry); });
    }
  }

  template <class Work>
  void try_to(const Work& work) {
    try {
      work();
    } catch (const std::exception& error) {  // none may leave a thread of a team
      findings.add_problem(error.what());
    }
  }
};

class FileChecker {
 public:
  FileChecker(const std::filesystem::path& path, const FileCheckOptions& options)
      : path_(path), options_(options), team_(options.threads) {}

  FileCheck check() {
    try {
      file_ = std::make_unique<EventFile>(path_, opening_);
      result_.events = file_->size();
      open_readers();
      read_events();
      judge();
    } catch (const Error& error) {
      add_problem(error.what());
    }
    result_.problems.resize(std::min(result_.problems.size(), FileCheck::kMostProblems));
    collect_warnings();
    return std::move(result_);
  }

 private:
  void add_problem(const std::string& text) {
    result_.problem_count += 1;
    result_.problems.push_back(text);
  }

  void open_readers() {
    readings_.resize(static_cast<std::size_t>(team_.size()));
    try {
      source_ = std::make_unique<LarcvSource>(LarcvOptions{
          {path_}, options_.image_producer, options_.label_producer, LabelUse::if_present});
      result_.meta = source_->meta();
      result_.labelled = source_->labelled();
      for (Reading& reading : readings_) {
        reading.events = source_->reader();
      }
    } catch (const Error& error) {
      add_problem(error.what());
    }
    std::vector<ProductName> products = file_->products();
    std::sort(products.begin(), products.end(), [](const ProductName& a, const ProductName& b) {
      return std::pair(a.type, a.producer) < std::pair(b.type, b.producer);
    });
    for (const ProductName& product : products) {
      if (source_ == nullptr || !is_read_with_events(product)) {
        open_product(product);
      }
    }
  }

  bool is_read_with_events(const ProductName& product) const {
    return product.type == kSparse2d && (product.producer == options_.image_producer ||
                                         product.producer == options_.label_producer);
  }

  void open_product(const ProductName& product) {
    std::vector<std::unique_ptr<ProductCheck>> checks;
    try {
      for (std::size_t i = 0; i < readings_.size(); ++i) {
        checks.push_back(make_product_check(*file_, product, warnings_));
      }
    } catch (const Error& error) {
      add_problem(error.what());
      return;
    }
    if (checks.front() == nullptr) {
      result_.unknown.push_back(product);
      return;
    }
    for (std::size_t i = 0; i < readings_.size(); ++i) {
      readings_[i].products.push_back(std::move(checks[i]));
    }
    opened_.push_back(product);
  }

  void read_events() {
    std::atomic<std::int64_t> done{0};
    team_.run([&](int thread) {
      const Range range = slice_of(result_.events, thread, team_.size());
      for (std::int64_t entry = range.begin; entry < range.end; ++entry) {
        readings_[static_cast<std::size_t>(thread)].check(entry);
        done += 1;
        if (thread == 0) {
          options_.progress(static_cast<double>(done) / static_cast<double>(result_.events));
        }
      }
    });
    // As a run that reads the file, whose readers have just been through it.
    result_.fingerprint = source_ != nullptr ? source_->fingerprint() : "";
    result_.products_fingerprint = fingerprint_of(*file_, opened_);
  }

  /// Adds up what the threads found and says what makes no sense.
  void judge() {
    Findings sum;
    for (const Reading& reading : readings_) {
      const Findings& part = reading.findings;
      for (std::size_t plane = 0; plane < sum.planes.size(); ++plane) {
        sum.planes[plane].pixels += part.planes[plane].pixels;
        for (std::size_t label = 0; label < part.planes[plane].labels.size(); ++label) {
          sum.planes[plane].labels[label] += part.planes[plane].labels[label];
        }
      }
      sum.least_charge = std::min(sum.least_charge, part.least_charge);
      sum.greatest_charge = std::max(sum.greatest_charge, part.greatest_charge);
      sum.empty_events += part.empty_events;
      sum.events_without_neutrino += part.events_without_neutrino;
      sum.negative_charges += part.negative_charges;
      sum.pixels += part.pixels;
      sum.unlabelled += part.unlabelled;
      sum.problem_count += part.problem_count;
      sum.problems.insert(sum.problems.end(), part.problems.begin(), part.problems.end());
    }
    result_.planes = sum.planes;
    const bool any_charge = sum.least_charge <= sum.greatest_charge;
    result_.least_charge = any_charge ? sum.least_charge : 0;
    result_.greatest_charge = any_charge ? sum.greatest_charge : 0;
    result_.empty_events = sum.empty_events;
    result_.events_without_neutrino = sum.events_without_neutrino;
    judge_content(sum);
    result_.problem_count += sum.problem_count;
    result_.problems.insert(result_.problems.end(), sum.problems.begin(), sum.problems.end());
  }

  void judge_content(const Findings& sum) {
    const std::string name = path_.string();
    if (result_.events == 0) {
      add_problem(name + ": has no events");
      return;
    }
    if (source_ == nullptr || sum.problem_count > 0) {
      return;  // what was read is not the whole; its figures would mislead
    }
    if (sum.unlabelled == sum.pixels && sum.pixels > 0 && result_.labelled) {
      add_problem(name + ": has no label for any of its " + std::to_string(sum.pixels) +
                  " pixels (all would count as background); is '" + options_.label_producer +
                  "' the right product?");
      return;
    }
    if (sum.empty_events == result_.events) {
      add_problem(name + ": has no pixel in any of its " + std::to_string(result_.events) +
                  " events; is '" + options_.image_producer + "' the right product?");
      return;
    }
    if (sum.negative_charges > 0) {
      add_problem(name + ": has " + std::to_string(sum.negative_charges) +
                  " pixels with a negative charge (a wire signal is positive); is '" +
                  options_.image_producer + "' the right product?");
    }
    for (const Label label : {Label::cosmic, Label::neutrino}) {
      std::int64_t count = 0;
      for (const PlaneStatistics& plane : sum.planes) {
        count += plane.labels[static_cast<std::size_t>(label)];
      }
      if (result_.labelled && count == 0) {
        add_problem(name + ": has no pixel with the label " +
                    (label == Label::cosmic ? "1 (cosmic)" : "2 (neutrino)") +
                    " (the class cannot be learnt from it); is '" + options_.label_producer +
                    "' the right product?");
      }
    }
  }

  void collect_warnings() {
    std::map<WarningKind, ReadWarning> all;
    const auto collect = [&](const ReadWarnings& warnings) {
      for (const ReadWarning& warning : warnings.list()) {
        const auto [entry, is_new] = all.emplace(warning.kind, warning);
        entry->second.count += is_new ? 0 : warning.count;
      }
    };
    collect(source_ != nullptr ? source_->warnings() : opening_);  // the source opened it too
    collect(warnings_);
    for (const auto& [kind, warning] : all) {
      result_.mended.push_back(warning);
    }
  }

  std::filesystem::path path_;
  const FileCheckOptions& options_;
  Team team_;
  ReadWarnings opening_;   // of the file
  ReadWarnings warnings_;  // of its products
  std::unique_ptr<EventFile> file_;
  std::unique_ptr<LarcvSource> source_;
  std::vector<Reading> readings_;    // one for each thread
  std::vector<ProductName> opened_;  // besides image and labels
  FileCheck result_;
};

}  // namespace

FileCheck check_file(const std::filesystem::path& path, const FileCheckOptions& options) {
  return FileChecker(path, options).check();
}

}  // namespace cosmic::data::larcv
