// What the words of a configuration mean for a run: its number formats, its optimizer and loss, its
// length and its learning rates.
#pragma once

#include <cstdint>
#include <string>

#include "compile/optimizer.hpp"
#include "compile/precision.hpp"
#include "config/configuration.hpp"
#include "data/dense_image.hpp"
#include "model/segmentation_loss.hpp"
#include "session/model.hpp"
#include "train/schedule.hpp"

namespace cosmic::train {

/// Throws UserError for `mixed`, which no target of this build has.
compile::Precision precision_of(const config::RunConfig& run);

compile::Optimizer optimizer_of(const config::OptimizerConfig& config);
model::SegmentationLoss loss_of(const config::OptimizerConfig& config);

/// How the programs of a run are compiled: the same for a run and for who compiles ahead of it.
session::Options training_options(const config::Configuration& configuration,
                                  const std::string& target);
session::Options validation_options(const config::Configuration& configuration,
                                    const std::string& target);
session::Options inference_options(const config::Configuration& configuration,
                                   const std::string& target);
session::BatchTypes batch_types(const config::Configuration& configuration,
                                const data::DenseShape& shape);

/// Updates until the whole run ends, earlier starts included; 0 if it has no end.
std::int64_t last_step_of(const config::RunConfig& run, std::int64_t updates_per_epoch,
                          std::int64_t first_step);

/// `epoch_size` is the number of events, `updates` that of the whole run or 0 for no end.
Schedule schedule_of(const config::Configuration& configuration, std::int64_t epoch_size,
                     std::int64_t updates);

}  // namespace cosmic::train
