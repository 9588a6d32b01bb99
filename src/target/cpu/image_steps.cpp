#include "target/cpu/image_steps.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "target/cpu/kernels/row_kernels.hpp"
#include "target/cpu/row_sink.hpp"
#include "target/cpu/row_window.hpp"

namespace cosmic::target::cpu {
namespace {

using compile::TermView;
using graph::Node;

/// As many threads as it is worth to go over this image once. An element moved counts like several
/// computed with.
Team worth(const Team& all, const BlockedImage& image) {
  return all.for_work(8 * static_cast<double>(image.floats()));
}

/// Writes a value whose op has a row expression.
class MapStep final : public UnpreparedStep {
 public:
  MapStep(const Memory& memory, const TermView& result)
      : source_(memory, result), output_(memory, result.value()) {}

  std::int64_t scratch_bytes() const override {
    return (output_.scratch_floats(1) + source_.scratch_floats()) * 4;
  }

  void run(const Team& all, const Scratch& scratch) override {
    const Team team = worth(all, source_.image());
    const BlockedImage& image = source_.image();
    team.run([&](int thread) {
      const Range rows = slice_of(image.images() * image.rows, thread, team.size());
      float* const evaluation = scratch.floats(thread) + output_.scratch_floats(1);
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const std::int64_t n = i / image.rows;
        const std::int64_t row = i % image.rows;
        for (std::int64_t block = 0; block < image.blocks(); ++block) {
          const Range one{block, block + 1};
          const RowSink::Row out = output_.open(n, row, one, scratch.floats(thread));
          source_.write(out.first, n, block, row, 0, image.columns, evaluation);
          output_.close(out, n, row, one);
        }
      }
    });
  }

 private:
  RowSource source_;
  RowSink output_;
};

class MaxPoolGradientStep final : public UnpreparedStep {
 public:
  MaxPoolGradientStep(const Memory& memory, const TermView& result)
      : x_(memory, result.operand(0)),
        dy_(memory, result.operand(1)),
        window_(factors_on(result.node().type,
                           std::get<graph::MaxPoolGradient>(result.node().op).window)),
        output_(memory, result.value()) {}

  std::int64_t scratch_bytes() const override {
    return (x_.image().row_floats() * pooled_rows() + dy_.image().row_floats() +
            output_.scratch_floats(pooled_rows()) + x_.scratch_floats() + dy_.scratch_floats()) *
           4;
  }

  void run(const Team& all, const Scratch& scratch) override {
    const Team team = worth(all, x_.image());
    const BlockedImage& pooled = dy_.image();
    team.run([&](int thread) {
      const Range rows = slice_of(pooled.images() * pooled.rows, thread, team.size());
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        for (std::int64_t block = 0; block < pooled.blocks(); ++block) {
          scatter(i / pooled.rows, block, i % pooled.rows, scratch.floats(thread));
        }
      }
      // What does not fill a window was not pooled and has no gradient.
      const BlockedImage& full = x_.image();
      const Range images = slice_of(full.images(), thread, team.size());
      for (std::int64_t image = images.begin; image < images.end; ++image) {
        const bool dropped = image % full.depth >= pooled.depth * window_[0];
        for (std::int64_t block = 0; block < full.blocks(); ++block) {
          for (std::int64_t row = dropped ? 0 : pooled.rows * window_[1]; row < full.rows; ++row) {
            output_.clear(image, row, {block, block + 1});
          }
        }
      }
    });
  }

 private:
  std::int64_t pooled_rows() const { return window_[0] * window_[1]; }

  void scatter(std::int64_t image, std::int64_t block, std::int64_t row, float* scratch) const {
    const BlockedImage& full = x_.image();
    const BlockedImage& pooled = dy_.image();
    const Range one{block, block + 1};
    const float* inputs[kMostPooledRows];
    float* outputs[kMostPooledRows];
    const std::int64_t count = pooled_rows();
    float* const results = scratch + full.row_floats() * count + pooled.row_floats();
    float* const evaluation = results + output_.scratch_floats(count);
    const std::int64_t first_image =
        image / pooled.depth * full.depth + image % pooled.depth * window_[0];
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t source_image = first_image + k / window_[1];
      const std::int64_t source_row = row * window_[1] + k % window_[1];
      float* const copy = scratch + k * full.row_floats();
      inputs[k] = row_of(x_, source_image, block, source_row, copy, evaluation);
      outputs[k] =
          output_.open(source_image, source_row, one, results + output_.scratch_floats(k)).first;
    }
    const float* const dy =
        row_of(dy_, image, block, row, scratch + full.row_floats() * count, evaluation);
    max_pool_gradient_rows(outputs, inputs, dy, count, window_[2], pooled.columns);
    const std::int64_t pooled_columns = pooled.columns * window_[2];
    for (std::int64_t k = 0; k < count; ++k) {
      std::fill_n(outputs[k] + pooled_columns * kBlock, (full.columns - pooled_columns) * kBlock,
                  0.0F);
      output_.close({outputs[k], 0}, first_image + k / window_[1],
                    row * window_[1] + k % window_[1], one);
    }
  }

  static const float* row_of(const RowSource& source, std::int64_t image, std::int64_t block,
                             std::int64_t row, float* copy, float* evaluation) {
    if (source.in_place()) {
      return source.row(image, block, row);
    }
    source.write(copy, image, block, row, 0, source.image().columns, evaluation);
    return copy;
  }

  RowSource x_;
  RowSource dy_;
  graph::Factors window_;
  RowSink output_;
};

class UpsampleGradientStep final : public UnpreparedStep {
 public:
  UpsampleGradientStep(const Memory& memory, const TermView& result,
                       const graph::UpsampleGradient& op)
      : interpolation_(op.interpolation),
        factor_(factors_on(result.node().type, op.factor)),
        dy_(memory, result.operand(0)),
        // A row of the small image receives from at most this many rows of the large one.
        rows_(dy_, op.interpolation == graph::Interpolation::bilinear ? 4 : op.factor[1], 0, 0),
        image_(result.node().type),
        output_(memory, result.value()) {}

  std::int64_t scratch_bytes() const override {
    return (output_.scratch_floats(image_.blocks()) + rows_.scratch_floats()) * 4;
  }

  void run(const Team& all, const Scratch& scratch) override {
    const Team team = worth(all, dy_.image());
    team.run([&](int thread) {
      const Range blocks{0, image_.blocks()};
      float* const result = scratch.floats(thread);
      RowWindow::View view(rows_, result + output_.scratch_floats(blocks.end));
      const Range rows = slice_of(image_.images() * image_.rows, thread, team.size());
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const std::int64_t image = i / image_.rows;
        const std::int64_t row = i % image_.rows;
        const RowSink::Row out = output_.open(image, row, blocks, result);
        for (std::int64_t block = 0; block < blocks.end; ++block) {
          std::fill_n(out.first + block * out.block_stride, image_.row_floats(), 0.0F);
        }
        if (interpolation_ == graph::Interpolation::bilinear) {
          add_bilinear(view, out, image, row);
        } else {
          add_nearest(view, out, image, row);
        }
        output_.close(out, image, row, blocks);
      }
    });
  }

 private:
  // Large rows 2i and 2i+1 take 3/4 of small row i; their outer neighbours take 1/4, and at the
  // edges of the image, where there is no outer neighbour, the edge row gives that quarter too.
  void add_bilinear(RowWindow::View& view, const RowSink::Row& out, std::int64_t image,
                    std::int64_t row) const {
    const std::int64_t last = image_.rows - 1;
    const auto add = [&](std::int64_t large, float weight) {
      const float* const dy = view.row(image, large);
      for (std::int64_t block = 0; block < image_.blocks(); ++block) {
        add_upsample_bilinear_gradient_row(out.first + block * out.block_stride,
                                           dy + block * rows_.block_stride(), weight,
                                           image_.columns);
      }
    };
    if (row > 0) {
      add(2 * row - 1, 0.25F);
    }
    add(2 * row, row == 0 ? 1.0F : 0.75F);
    add(2 * row + 1, row == last ? 1.0F : 0.75F);
    if (row < last) {
      add(2 * row + 2, 0.25F);
    }
  }

  void add_nearest(RowWindow::View& view, const RowSink::Row& out, std::int64_t image,
                   std::int64_t row) const {
    const std::int64_t first =
        image / image_.depth * dy_.image().depth + image % image_.depth * factor_[0];
    for (std::int64_t d = 0; d < factor_[0]; ++d) {
      for (std::int64_t r = 0; r < factor_[1]; ++r) {
        const float* const dy = view.row(first + d, row * factor_[1] + r);
        for (std::int64_t block = 0; block < image_.blocks(); ++block) {
          add_upsample_nearest_gradient_row(out.first + block * out.block_stride,
                                            dy + block * rows_.block_stride(), factor_[2],
                                            image_.columns);
        }
      }
    }
  }

  graph::Interpolation interpolation_;
  graph::Factors factor_;
  RowSource dy_;
  RowWindow rows_;
  BlockedImage image_;
  RowSink output_;
};

/// Every channel of every image of the result is a channel of an image of an operand, or zero.
class GatherStep final : public UnpreparedStep {
 public:
  GatherStep(const Memory& memory, const TermView& result)
      : image_(result.node().type), output_(memory, result.value()) {
    const Node& node = result.node();
    for (std::size_t i = 0; i < result.operand_count(); ++i) {
      sources_.emplace_back(memory, result.operand(i));
      scratch_floats_ = std::max(scratch_floats_, sources_.back().scratch_floats());
    }
    origins_.resize(static_cast<std::size_t>(image_.images() * image_.channels));
    for (std::int64_t event = 0; event < image_.batch; ++event) {
      for (std::int64_t slice = 0; slice < image_.depth; ++slice) {
        for (std::int64_t channel = 0; channel < image_.channels; ++channel) {
          Origin origin =
              std::visit([&](const auto& op) { return origin_of(op, event, channel); }, node.op);
          if (origin.source >= 0) {
            const BlockedImage& from = sources_[static_cast<std::size_t>(origin.source)].image();
            origin.image = origin.image * from.depth + slice;
          }
          origins_[static_cast<std::size_t>((event * image_.depth + slice) * image_.channels +
                                            channel)] = origin;
        }
      }
    }
  }

  std::int64_t scratch_bytes() const override {
    return (output_.scratch_floats(1) + image_.row_floats() + scratch_floats_) * 4;
  }

  void run(const Team& all, const Scratch& scratch) override {
    const Team team = worth(all, image_);
    team.run([&](int thread) {
      const Range images = slice_of(image_.images() * image_.blocks(), thread, team.size());
      for (std::int64_t i = images.begin; i < images.end; ++i) {
        for (std::int64_t row = 0; row < image_.rows; ++row) {
          gather(i / image_.blocks(), i % image_.blocks(), row, scratch.floats(thread));
        }
      }
    });
  }

 private:
  struct Origin {
    int source = -1;  // operand, or -1 for zeros
    std::int64_t image = 0;
    std::int64_t channel = 0;
  };

  Origin origin_of(const graph::PlanesToChannels& op, std::int64_t event,
                   std::int64_t channel) const {
    const std::int64_t channels = image_.channels / op.planes;
    return {0, channel / channels * image_.batch + event, channel % channels};
  }
  Origin origin_of(const graph::ChannelsToPlanes& op, std::int64_t event,
                   std::int64_t channel) const {
    const std::int64_t batch = image_.batch / op.planes;
    return {0, event % batch, event / batch * image_.channels + channel};
  }
  Origin origin_of(const graph::Concat& op, std::int64_t event, std::int64_t channel) const {
    std::int64_t& moved = op.axis == 0 ? event : channel;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const BlockedImage& from = sources_[i].image();
      const std::int64_t extent = op.axis == 0 ? from.batch : from.channels;
      if (moved < extent) {
        return {static_cast<int>(i), event, channel};
      }
      moved -= extent;
    }
    throw InternalError("a concatenation is longer than its parts");
  }
  Origin origin_of(const graph::Slice& op, std::int64_t event, std::int64_t channel) const {
    (op.axis == 0 ? event : channel) += op.begin;
    return {0, event, channel};
  }
  Origin origin_of(const graph::Embed& op, std::int64_t event, std::int64_t channel) const {
    const BlockedImage& from = sources_[0].image();
    std::int64_t& moved = op.axis == 0 ? event : channel;
    moved -= op.begin;
    const bool inside = moved >= 0 && moved < (op.axis == 0 ? from.batch : from.channels);
    return inside ? Origin{0, event, channel} : Origin{};
  }
  template <class Op>
  Origin origin_of(const Op&, std::int64_t, std::int64_t) const {
    throw InternalError("there is no gather for " + std::string(Op::name));
  }

  void gather(std::int64_t image, std::int64_t block, std::int64_t row, float* scratch) const {
    const Range one{block, block + 1};
    const RowSink::Row place = output_.open(image, row, one, scratch);
    float* const out = place.first;
    std::fill_n(out, image_.row_floats(), 0.0F);
    float* const copy = scratch + output_.scratch_floats(1);
    float* const evaluation = copy + image_.row_floats();
    const std::int64_t lanes = std::min(kBlock, image_.channels - block * kBlock);
    const Origin* held = nullptr;  // whose block `copy` holds
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const Origin& origin =
          origins_[static_cast<std::size_t>(image * image_.channels + block * kBlock + lane)];
      if (origin.source < 0) {
        continue;
      }
      if (held == nullptr || held->source != origin.source || held->image != origin.image ||
          held->channel / kBlock != origin.channel / kBlock) {
        sources_[static_cast<std::size_t>(origin.source)].write(
            copy, origin.image, origin.channel / kBlock, row, 0, image_.columns, evaluation);
        held = &origin;
      }
      for (std::int64_t x = 0; x < image_.columns; ++x) {
        out[x * kBlock + lane] = copy[x * kBlock + origin.channel % kBlock];
      }
    }
    output_.close(place, image, row, one);
  }

  BlockedImage image_;
  RowSink output_;
  std::vector<RowSource> sources_;
  std::vector<Origin> origins_;
  std::int64_t scratch_floats_ = 0;
};

class BlockStep final : public UnpreparedStep {  // plain to blocked
 public:
  BlockStep(const Memory& memory, const TermView& result)
      : image_(result.node().type),
        input_(memory.floats(result.operand(0).value())),
        output_(memory, result.value()) {}

  std::int64_t scratch_bytes() const override { return output_.scratch_floats(1) * 4; }

  void run(const Team& all, const Scratch& scratch) override {
    const Team team = worth(all, image_);
    const std::int64_t slice = image_.rows * image_.columns;
    team.run([&](int thread) {
      const Range parts = slice_of(image_.images() * image_.blocks(), thread, team.size());
      for (std::int64_t i = parts.begin; i < parts.end; ++i) {
        const std::int64_t image = i / image_.blocks();
        const std::int64_t channel = i % image_.blocks() * kBlock;
        // Plain tensors are [batch][channel][depth][row][column].
        const std::int64_t event = image / image_.depth;
        const std::int64_t plane = image % image_.depth;
        const float* const from =
            input_ + ((event * image_.channels + channel) * image_.depth + plane) * slice;
        const std::int64_t channels = std::min(kBlock, image_.channels - channel);
        const Range one{i % image_.blocks(), i % image_.blocks() + 1};
        for (std::int64_t row = 0; row < image_.rows; ++row) {
          const RowSink::Row out = output_.open(image, row, one, scratch.floats(thread));
          block_row(out.first, from + row * image_.columns, image_.depth * slice, channels,
                    image_.columns);
          output_.close(out, image, row, one);
        }
      }
    });
  }

 private:
  BlockedImage image_;
  const float* input_;
  RowSink output_;
};

class UnblockStep final : public UnpreparedStep {  // blocked to plain
 public:
  UnblockStep(const Memory& memory, const TermView& result)
      : source_(memory, result.operand(0)), output_(memory.floats(result.value())) {}

  std::int64_t scratch_bytes() const override { return source_.scratch_floats() * 4; }

  void run(const Team& all, const Scratch& scratch) override {
    const Team team = worth(all, source_.image());
    const BlockedImage& image = source_.image();
    const std::int64_t slice = image.rows * image.columns;
    team.run([&](int thread) {
      const Range rows = slice_of(image.images() * image.rows, thread, team.size());
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const std::int64_t event = i / image.rows / image.depth;
        const std::int64_t plane = i / image.rows % image.depth;
        for (std::int64_t block = 0; block < image.blocks(); ++block) {
          const std::int64_t channel = block * kBlock;
          float* const to = output_ +
                            ((event * image.channels + channel) * image.depth + plane) * slice +
                            i % image.rows * image.columns;
          for (std::int64_t first = 0; first < image.columns; first += kRun) {
            const std::int64_t count = std::min(kRun, image.columns - first);
            unblock_row(to + first, image.depth * slice,
                        source_.read(i / image.rows, block, i % image.rows, first, count,
                                     scratch.floats(thread)),
                        std::min(kBlock, image.channels - channel), count);
          }
        }
      }
    });
  }

 private:
  RowSource source_;
  float* output_;
};

}  // namespace

std::unique_ptr<PreparedStep> make_map_step(const Memory& memory, const compile::Step& step,
                                            const Team&) {
  return std::make_unique<MapStep>(memory, memory.term(step.leader));
}

std::unique_ptr<PreparedStep> make_max_pool_gradient_step(const Memory& memory,
                                                          const compile::Step& step, const Team&) {
  return std::make_unique<MaxPoolGradientStep>(memory, memory.term(step.leader));
}

std::unique_ptr<PreparedStep> make_upsample_gradient_step(const Memory& memory,
                                                          const compile::Step& step, const Team&) {
  const TermView result = memory.term(step.leader);
  return std::make_unique<UpsampleGradientStep>(
      memory, result, std::get<graph::UpsampleGradient>(result.node().op));
}

std::unique_ptr<PreparedStep> make_gather_step(const Memory& memory, const compile::Step& step,
                                               const Team&) {
  return std::make_unique<GatherStep>(memory, memory.term(step.leader));
}

std::unique_ptr<PreparedStep> make_reorder_step(const Memory& memory, const compile::Step& step,
                                                const Team&) {
  const TermView result = memory.term(step.leader);
  if (result.node().layout == graph::Layout::blocked) {
    return std::make_unique<BlockStep>(memory, result);
  }
  return std::make_unique<UnblockStep>(memory, result);
}

}  // namespace cosmic::target::cpu
