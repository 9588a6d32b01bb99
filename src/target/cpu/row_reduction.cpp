#include "target/cpu/row_reduction.hpp"

#include <algorithm>
#include <vector>

#include "core/error.hpp"
#include "target/cpu/kernels/row_kernels.hpp"
#include "target/cpu/row_source.hpp"
#include "target/cpu/statistics_partials.hpp"

namespace cosmic::target::cpu {
namespace {

using compile::Computed;
using compile::TermView;
using graph::Node;
using graph::op_if;

/// Calls visit(first, count) for the runs of pixels that make up a row.
template <class Visit>
void for_each_run(const BlockedImage& image, const Visit& visit) {
  for (std::int64_t first = 0; first < image.columns; first += kRun) {
    visit(first, std::min(kRun, image.columns - first));
  }
}

class StatisticsReduction final : public RowReduction {
 public:
  StatisticsReduction(const Memory& memory, const TermView& sums, const graph::Statistics& op,
                      int threads)
      : source_(memory, sums.operand(0)),
        partials_(source_.image(), op.groups, op.pooled_channels, threads),
        result_(memory.floats(sums.value())) {}

  const BlockedImage& image() const override { return source_.image(); }
  std::int64_t scratch_floats() const override { return source_.scratch_floats(); }
  void clear(int thread) override { partials_.clear(thread); }
  void add(int thread, std::int64_t image, std::int64_t block, std::int64_t row,
           float* scratch) override {
    for_each_run(source_.image(), [&](std::int64_t first, std::int64_t count) {
      partials_.add(thread, image, block, source_.read(image, block, row, first, count, scratch),
                    count);
    });
  }
  void finish() override { partials_.finish(result_); }

 private:
  RowSource source_;
  StatisticsPartials partials_;
  float* result_;
};

/// Sums of dy * x and of dy, or of dy alone, per group and channel.
class ChannelReduction final : public RowReduction {
 public:
  enum class Of { products, sum };

  ChannelReduction(const Memory& memory, const TermView& x, const TermView& dy, float* result,
                   std::int64_t groups, Of of, int threads)
      : x_(memory, x),
        dy_(memory, dy),
        groups_(groups),
        of_(of),
        threads_(threads),
        sums_(static_cast<std::size_t>(threads * groups * 2 * x_.image().blocks() * kBlock)),
        result_(result) {}

  const BlockedImage& image() const override { return x_.image(); }
  std::int64_t scratch_floats() const override {
    return x_.scratch_floats() + dy_.scratch_floats();
  }
  void clear(int thread) override {
    std::fill_n(part(thread, 0, 0), groups_ * x_.image().blocks() * 2 * kBlock, 0.0);
  }
  void add(int thread, std::int64_t image, std::int64_t block, std::int64_t row,
           float* scratch) override {
    const BlockedImage& shape = x_.image();
    double* const sums = part(thread, image / shape.depth / (shape.batch / groups_), block);
    for_each_run(shape, [&](std::int64_t first, std::int64_t count) {
      const float* const dy =
          dy_.read(image, block, row, first, count, scratch + x_.scratch_floats());
      if (of_ == Of::products) {
        add_products(x_.read(image, block, row, first, count, scratch), dy, count, sums + kBlock,
                     sums);
      } else {
        add_sums(dy, count, sums);
      }
    });
  }
  void finish() override {
    const std::int64_t channels = x_.image().channels;
    for (std::int64_t group = 0; group < groups_; ++group) {
      for (std::int64_t c = 0; c < channels; ++c) {
        double first = 0;
        double second = 0;
        for (int thread = 0; thread < threads_; ++thread) {
          const double* const sums = part(thread, group, c / kBlock) + c % kBlock;
          first += sums[0];
          second += sums[kBlock];
        }
        result_[group * channels + c] = static_cast<float>(first);
        if (of_ == Of::products) {
          result_[(groups_ + group) * channels + c] = static_cast<float>(second);
        }
      }
    }
  }

 private:
  double* part(int thread, std::int64_t group, std::int64_t block) {
    return sums_.data() + ((thread * groups_ + group) * x_.image().blocks() + block) * 2 * kBlock;
  }

  RowSource x_;
  RowSource dy_;
  std::int64_t groups_;
  Of of_;
  int threads_;
  std::vector<double> sums_;
  float* result_;
};

class SegmentationReduction final : public RowReduction {
 public:
  SegmentationReduction(const Memory& memory, const TermView& sums,
                        const graph::SegmentationSums& op, int threads)
      : logits_(memory, sums.operand(0)),
        labels_(memory.at<std::uint8_t>(sums.operand(1).value())),
        class_weights_(memory.floats(sums.operand(2).value())),
        groups_(sums.operand(2).node().type.dim(0)),
        focal_(op.focal == graph::Focal::yes),
        threads_(threads),
        sums_(static_cast<std::size_t>(threads * logits_.image().images())),
        result_(memory.floats(sums.value())) {}

  const BlockedImage& image() const override { return logits_.image(); }
  std::int64_t scratch_floats() const override { return logits_.scratch_floats(); }
  void clear(int thread) override {
    const std::int64_t images = logits_.image().images();
    std::fill_n(sums_.begin() + thread * images, images, PixelSums{});
  }
  void add(int thread, std::int64_t image, std::int64_t block, std::int64_t row,
           float* scratch) override {
    const BlockedImage& shape = logits_.image();
    const std::int64_t group = image / (shape.images() / groups_);
    PixelSums& sums = sums_[static_cast<std::size_t>(thread * shape.images() + image)];
    for_each_run(shape, [&](std::int64_t first, std::int64_t count) {
      add_pixel_sums(logits_.read(image, block, row, first, count, scratch),
                     labels_ + (image * shape.rows + row) * shape.columns + first, shape.channels,
                     class_weights_ + group * shape.channels, focal_, count, sums);
    });
  }
  void finish() override {
    const std::int64_t images = logits_.image().images();
    for (std::int64_t image = 0; image < images; ++image) {
      PixelSums total;
      for (int thread = 0; thread < threads_; ++thread) {
        join(total, sums_[static_cast<std::size_t>(thread * images + image)]);
      }
      store(total, result_ + image * graph::kPixelSums);
    }
  }

 private:
  static void join(PixelSums& total, const PixelSums& part) {
    total.weighted_loss += part.weighted_loss;
    total.weight += part.weight;
    total.correct += part.correct;
    total.foreground += part.foreground;
    total.foreground_correct += part.foreground_correct;
    for (int i = 0; i < 2; ++i) {
      total.intersection[i] += part.intersection[i];
      total.either[i] += part.either[i];
    }
  }

  static void store(const PixelSums& sums, float* row) {
    const auto set = [&](graph::PixelSum which, double value) {
      row[static_cast<std::size_t>(which)] = static_cast<float>(value);
    };
    set(graph::PixelSum::weighted_loss, sums.weighted_loss);
    set(graph::PixelSum::weight, sums.weight);
    set(graph::PixelSum::correct, sums.correct);
    set(graph::PixelSum::foreground, sums.foreground);
    set(graph::PixelSum::foreground_correct, sums.foreground_correct);
    set(graph::PixelSum::cosmic_intersection, sums.intersection[0]);
    set(graph::PixelSum::cosmic_union, sums.either[0]);
    set(graph::PixelSum::neutrino_intersection, sums.intersection[1]);
    set(graph::PixelSum::neutrino_union, sums.either[1]);
  }

  RowSource logits_;
  const std::uint8_t* labels_;
  const float* class_weights_;
  std::int64_t groups_;
  bool focal_;
  int threads_;
  std::vector<PixelSums> sums_;
  float* result_;
};

class ReductionStep final : public UnpreparedStep {
 public:
  ReductionStep(std::unique_ptr<RowReduction> reduction, const Team& team)
      : reduction_(std::move(reduction)), team_(team) {}

  std::int64_t scratch_bytes() const override {
    return reduction_->scratch_floats() * static_cast<std::int64_t>(sizeof(float));
  }

  void run(const Team&, const Scratch& scratch) override {
    const BlockedImage& image = reduction_->image();
    team_.run([&](int thread) {
      reduction_->clear(thread);
      const Range rows = slice_of(image.images() * image.rows, thread, team_.size());
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        for (std::int64_t block = 0; block < image.blocks(); ++block) {
          reduction_->add(thread, i / image.rows, block, i % image.rows, scratch.floats(thread));
        }
      }
    });
    reduction_->finish();
  }

 private:
  std::unique_ptr<RowReduction> reduction_;
  Team team_;
};

}  // namespace

std::unique_ptr<RowReduction> make_row_reduction(const Memory& memory, const Computed& computed,
                                                 int threads) {
  const TermView term = memory.term(computed);
  const Node& node = term.node();
  float* const result = memory.floats(computed.value);
  if (const auto* statistics = op_if<graph::Statistics>(node)) {
    return std::make_unique<StatisticsReduction>(memory, term, *statistics, threads);
  }
  if (const auto* products = op_if<graph::ChannelProducts>(node)) {
    return std::make_unique<ChannelReduction>(memory, term.operand(0), term.operand(1), result,
                                              products->groups, ChannelReduction::Of::products,
                                              threads);
  }
  if (op_if<graph::ChannelSum>(node) != nullptr) {
    return std::make_unique<ChannelReduction>(memory, term.operand(0), term.operand(0), result, 1,
                                              ChannelReduction::Of::sum, threads);
  }
  if (const auto* sums = op_if<graph::SegmentationSums>(node)) {
    return std::make_unique<SegmentationReduction>(memory, term, *sums, threads);
  }
  throw InternalError("there is no row reduction for " + std::string(name_of(node.op)));
}

std::unique_ptr<PreparedStep> make_reduction_step(const Memory& memory, const compile::Step& step,
                                                  const Team& all) {
  const graph::Cost cost = graph::cost_of(memory.graph(), step.leader.value);
  const Team team = all.for_work(cost.flops + cost.bytes);
  return std::make_unique<ReductionStep>(make_row_reduction(memory, step.leader, team.size()),
                                         team);
}

}  // namespace cosmic::target::cpu
