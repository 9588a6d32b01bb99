// What the words of a configuration mean for a run: its number formats, its optimizer and loss, and
// how its programs are compiled.
#pragma once

#include <cstdint>
#include <string>

#include "comm/communicator.hpp"
#include "compile/optimizer.hpp"
#include "compile/precision.hpp"
#include "config/configuration.hpp"
#include "data/dense_image.hpp"
#include "model/segmentation_loss.hpp"
#include "session/model.hpp"

namespace cosmic::run {

/// `mixed` is float16 with loss scaling.
compile::Precision precision_of(const config::RunConfig& run);

compile::Optimizer optimizer_of(const config::OptimizerConfig& config);
model::SegmentationLoss loss_of(const config::OptimizerConfig& config);

/// The device that run.device names, or the first.
int device_of(const config::RunConfig& run);

/// The processes that train together, as the programs of a run see them: those that there are, or
/// one that exchanges with itself where run.exchange asks a process alone to. Null for none.
comm::Communicator* exchanging(const config::RunConfig& run, comm::Communicator* processes);

/// How the programs of a run are compiled: the same for a run and for who compiles ahead of it.
session::Options training_options(const config::Configuration& configuration,
                                  const std::string& target);
session::Options validation_options(const config::Configuration& configuration,
                                    const std::string& target);
session::Options inference_options(const config::Configuration& configuration,
                                   const std::string& target);
session::BatchTypes batch_types(const config::Configuration& configuration,
                                const data::DenseShape& shape);
/// The same for a program that sees so many events at once.
session::BatchTypes batch_types(std::int64_t events, const data::DenseShape& shape);

/// That gradients travel in between processes.
NumberFormat exchange_format(const config::RunConfig& run);

/// Do the curves of this run come with pictures? Its steps then give their logits.
bool shows_images(const config::Configuration& configuration);

}  // namespace cosmic::run
