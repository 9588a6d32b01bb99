// A small checkpoint as the reference's framework writes it: two parameters, a running mean, a
// counter, and Adam's first moment.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "checkpoint/archive_writer.hpp"
#include "checkpoint/pickle_writer.hpp"

namespace cosmic::checkpoint {

/// Writes the dictionary of a checkpoint part by part; every part can be replaced.
struct ReferenceParts {
  std::function<void(PickleWriter&)> global_step = [](PickleWriter& p) { p.number(3); };
  std::function<void(PickleWriter&)> state_dict = [](PickleWriter& p) {
    p.ordered_dict()
        .mark()
        .text("b.weight")
        .tensor({.key = "0"})
        .text("b.running_mean")
        .tensor({.key = "0"})
        .text("a.weight")
        .tensor({.key = "1", .elements = 2, .shape = {2}})
        .text("b.num_batches_tracked")
        .tensor({.type = "LongStorage", .key = "2", .elements = 1, .shape = {}, .strides = {}})
        .set_items();
  };
  std::function<void(PickleWriter&)> state = [](PickleWriter& p) {
    p.empty_dict()
        .mark()
        .number(0)
        .empty_dict()
        .mark()
        .text("step")
        .tensor({.key = "3", .elements = 1, .shape = {}, .strides = {}})
        .text("exp_avg")
        .tensor({.key = "0"})
        .set_items()
        .number(1)
        .empty_dict()
        .mark()
        .text("step")
        .number(3)
        .text("exp_avg")
        .tensor({.key = "1", .elements = 2, .shape = {2}})
        .set_items()
        .set_items();
  };
  std::vector<std::int64_t> params = {0, 1};

  std::string pickle() const {
    PickleWriter p;
    p.empty_dict().mark().text("global_step");
    global_step(p);
    p.text("state_dict");
    state_dict(p);
    p.text("optimizer").empty_dict().mark().text("state");
    state(p);
    p.text("param_groups").empty_list().empty_dict().mark();
    p.text("lr")
        .real(0.25)
        .text("betas")
        .mark()
        .real(0.9)
        .real(0.999)
        .tuple()
        .text("foreach")
        .none();
    p.text("params").empty_list().mark();
    for (const std::int64_t number : params) {
      p.number(number);
    }
    p.appends().set_items().append().set_items();
    p.text("scheduler").empty_dict().text("last_epoch").number(3).set_item();
    p.set_items();
    return p.finish();
  }
};

/// The storages that it names, as entries of the archive model-3.ckpt.
inline std::vector<ArchiveEntry> reference_storages() {
  std::string floats;
  for (const float value : {1.F, 2.F, 3.F, 4.F}) {
    floats += little(value);
  }
  return {{"model-3/data/0", floats},
          {"model-3/data/1", little(5.F) + little(6.F)},
          {"model-3/data/2", little(std::int64_t{9})},
          {"model-3/data/3", little(3.F)}};
}

}  // namespace cosmic::checkpoint
