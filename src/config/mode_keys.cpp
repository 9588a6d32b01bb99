// The keys of `mode`: what is done with the network, and how it learns.
#include "config/key_list.hpp"

namespace cosmic::config {
namespace {

/// They make the program of a training step, or say what one would do.
const std::vector<Command> kTrainingPrograms{Command::train, Command::compile, Command::test,
                                             Command::explain, Command::measure_performance};

std::vector<Key> optimizer_keys() {
  return {
      COSMIC_KEY(mode.optimizer.name)
          .used_by(kTrainingPrograms)
          .numbered({0, 1, 2})  // the reference's 3 is an optimizer that this program does not have
          .on_resume(OnResume::refuse)
          .says("How gradients become updates"),
      COSMIC_KEY(mode.optimizer.learning_rate)
          .used_by({Command::train, Command::test, Command::measure_performance})
          .more_than(0)
          .on_resume(OnResume::warn)
          .says("The highest learning rate of the schedule"),
      COSMIC_KEY(mode.optimizer.schedule)
          .used_by({Command::train})
          .without_numbers()
          .choice_also_called("standard", "warmup_flat_decay")
          .on_resume(OnResume::warn)
          .says("The learning rate over time. reference: one epoch rising from 1e-4, twenty flat, "
                "then an exponential decay back to 1e-4. warmup_flat_decay, one_cycle: as in v2.1, "
                "stretched to the length of the run. cosine: a half cosine from the highest rate "
                "down to floor_learning_rate at the last update"),
      COSMIC_KEY(mode.optimizer.minimum_learning_rate)
          .used_by({Command::train})
          .requires_that(
              [](const Situation& s) {
                return s.configuration.mode.optimizer.schedule == Schedule::one_cycle;
              },
              "only mode.optimizer.schedule=one_cycle has such a rate")
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("one_cycle: the rate at the start and at the end of the cycle"),
      COSMIC_KEY(mode.optimizer.floor_learning_rate)
          .used_by({Command::train})
          .requires_that(
              [](const Situation& s) {
                return s.configuration.mode.optimizer.schedule == Schedule::warmup_flat_decay ||
                       s.configuration.mode.optimizer.schedule == Schedule::one_cycle ||
                       s.configuration.mode.optimizer.schedule == Schedule::cosine;
              },
              "only the schedules warmup_flat_decay, one_cycle and cosine fall to a floor")
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("warmup_flat_decay, one_cycle, cosine: the final rate; defaults to 0 for cosine"),
      COSMIC_KEY(mode.optimizer.warmup_iterations)
          .used_by({Command::train})
          .requires_that(
              [](const Situation& s) {
                return s.configuration.mode.optimizer.schedule == Schedule::cosine;
              },
              "only mode.optimizer.schedule=cosine has a warm-up of its own length")
          .at_least(0)
          .at_most(kMostSteps)
          .on_resume(OnResume::warn)
          .says("cosine: updates at the start in which the rate rises linearly to its highest"),
      COSMIC_KEY(mode.optimizer.decay_epochs)
          .used_by({Command::train})
          .requires_that(
              [](const Situation& s) {
                return s.configuration.mode.optimizer.schedule == Schedule::warmup_flat_decay ||
                       s.configuration.mode.optimizer.schedule == Schedule::one_cycle;
              },
              "only the schedules warmup_flat_decay and one_cycle fall to a floor")
          .at_least(0)
          .at_most(kMostSteps)
          .on_resume(OnResume::warn)
          .says("warmup_flat_decay, one_cycle: length of the final decay in epochs. As in the "
                "reference, the rate falls by a factor e every 100 updates, so after about 500 it "
                "stays at its floor"),
      COSMIC_KEY(mode.optimizer.loss_balance_scheme)
          .used_by(kTrainingPrograms)
          .numbered({0, 1, 3, 2})
          .on_resume(OnResume::warn)
          .says("Weights of pixels in the loss. none: all equal. light: 1, 1.5, 10 for background, "
                "cosmic, neutrino. even: equal weight per class. focal: more for badly predicted "
                "pixels"),
      COSMIC_KEY(mode.optimizer.class_weights.background)
          .used_by(kTrainingPrograms)
          .more_than(0)
          .on_resume(OnResume::warn)
          .says("Weight of a background pixel, multiplied by that of loss_balance_scheme; not with "
                "even. Below 1, fewer track pixels are lost to background, but more noise is "
                "tagged as tracks"),
      COSMIC_KEY(mode.optimizer.class_weights.cosmic)
          .used_by(kTrainingPrograms)
          .more_than(0)
          .on_resume(OnResume::warn)
          .says("The same for a cosmic pixel"),
      COSMIC_KEY(mode.optimizer.class_weights.neutrino)
          .used_by(kTrainingPrograms)
          .more_than(0)
          .on_resume(OnResume::warn)
          .says("The same for a neutrino pixel. Above 1, more of the neutrino is found, with lower "
                "purity"),
      COSMIC_KEY(mode.optimizer.gradient_accumulation)
          .used_by(kTrainingPrograms)
          .at_least(1)
          .at_most(kMostRepeats)
          .on_resume(OnResume::warn)
          .says("Number of batches whose gradients make one update; the schedule counts updates"),
      COSMIC_KEY(mode.optimizer.accumulation_reduction)
          .used_by({Command::train, Command::compile, Command::test, Command::measure_performance})
          .needs(
              [](const Situation& s) {
                return s.configuration.mode.optimizer.gradient_accumulation > 1;
              },
              "one batch makes an update unless mode.optimizer.gradient_accumulation is 2 or more")
          .without_numbers()
          .on_resume(OnResume::warn)
          .says("Whether those gradients are summed, as in the reference, or averaged"),
      COSMIC_KEY(mode.optimizer.beta1)
          .used_by(kTrainingPrograms)
          .requires_that(
              [](const Situation& s) {
                return s.configuration.mode.optimizer.name == OptimizerKind::adam ||
                       s.configuration.mode.optimizer.name == OptimizerKind::adamw;
              },
              "only adam and adamw have it")
          .at_least(0)
          .less_than(1)
          .on_resume(OnResume::warn)
          .says("adam, adamw: decay rate of the gradient's running mean"),
      COSMIC_KEY(mode.optimizer.beta2)
          .used_by(kTrainingPrograms)
          .requires_that(
              [](const Situation& s) {
                return s.configuration.mode.optimizer.name == OptimizerKind::adam ||
                       s.configuration.mode.optimizer.name == OptimizerKind::adamw;
              },
              "only adam and adamw have it")
          .at_least(0)
          .less_than(1)
          .on_resume(OnResume::warn)
          .says("adam, adamw: decay rate of the squared gradient's running mean"),
      COSMIC_KEY(mode.optimizer.alpha)
          .used_by(kTrainingPrograms)
          .requires_that(
              [](const Situation& s) {
                return s.configuration.mode.optimizer.name == OptimizerKind::rmsprop;
              },
              "only rmsprop has it")
          .at_least(0)
          .less_than(1)
          .on_resume(OnResume::warn)
          .says("rmsprop: decay rate of the squared gradient's running mean"),
      COSMIC_KEY(mode.optimizer.momentum)
          .used_by(kTrainingPrograms)
          .requires_that(
              [](const Situation& s) {
                return s.configuration.mode.optimizer.name == OptimizerKind::sgd;
              },
              "only sgd has it")
          .at_least(0)
          .less_than(1)
          .on_resume(OnResume::refuse)
          .says("sgd: momentum; 0 for none"),
      COSMIC_KEY(mode.optimizer.epsilon)
          .used_by(kTrainingPrograms)
          .requires_that(
              [](const Situation& s) {
                return s.configuration.mode.optimizer.name != OptimizerKind::sgd;
              },
              "sgd divides by nothing")
          .more_than(0)
          .on_resume(OnResume::warn)
          .says("adam, adamw, rmsprop: added to the denominator of an update; defaults to 1e-4 for "
                "rmsprop"),
      COSMIC_KEY(mode.optimizer.weight_decay)
          .used_by(kTrainingPrograms)
          .requires_that(
              [](const Situation& s) {
                return s.configuration.mode.optimizer.name == OptimizerKind::adamw;
              },
              "only adamw decays weights")
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("adamw: decoupled weight decay; defaults to 0.01 for adamw"),
  };
}

}  // namespace

std::vector<Key> mode_keys() {
  std::vector<Key> keys{
      COSMIC_KEY(mode.name)
          .used_by(kAllCommands)
          .without_numbers()
          .set_by_group("mode")
          .says("What the run does; the group mode sets it"),
      COSMIC_KEY(mode.weights_location)
          .used_by(
              {Command::train, Command::infer, Command::evaluate, Command::compile, Command::test})
          .says("Checkpoint to start from, a file or a folder of checkpoints; empty for this run's "
                "newest. compile takes only the settings of its network"),
      COSMIC_KEY(mode.insist_on_settings)
          .used_by({Command::train, Command::infer, Command::evaluate, Command::compile,
                    Command::test, Command::export_network})
          .says("Use settings that contradict the weights instead of refusing them; log and report "
                "say so"),
      COSMIC_KEY(mode.start_index)
          .used_by({Command::train, Command::infer, Command::evaluate, Command::iotest,
                    Command::test, Command::measure_performance})
          .needs(on_events, "noise has no first event")
          .needs(
              [](const Situation& s) {
                return (s.command != Command::train && s.command != Command::iotest) ||
                       s.configuration.data.order == EventOrder::serial_access;
              },
              "only data.order=serial_access begins at a certain event")
          .at_least(0)
          .at_most(kMostSteps)
          .also_called({"data.start_index"})
          .on_resume(OnResume::warn)
          .says("First event to use with data.order=serial_access"),
      COSMIC_KEY(mode.no_summary_images)
          .used_by({Command::train})
          .needs([](const Situation& s) { return s.configuration.run.saver; },
                 "run.saver=false leaves the TensorBoard files out")
          .says("Do not write images of predictions and labels to the TensorBoard files"),
      COSMIC_KEY(mode.summary_iteration)
          .used_by({Command::train})
          .needs([](const Situation& s) { return s.configuration.run.saver; },
                 "run.saver=false leaves the TensorBoard files out")
          .at_least(1)
          .at_most(kMostSteps)
          .only_in({Mode::train, Mode::inference})
          .says("Steps between TensorBoard entries; every 25th entry has images"),
      COSMIC_KEY(mode.logging_iteration)
          .used_by({Command::train, Command::infer})
          .at_least(1)
          .at_most(kMostSteps)
          .only_in({Mode::train, Mode::inference})
          .says("Steps between log lines"),
      COSMIC_KEY(mode.output_file)
          .used_by({Command::infer, Command::evaluate})
          .only_in({Mode::inference})
          .says(
              "infer: larcv3 file for the predictions; empty for predictions.h5 in output_dir, or "
              "with several inputs for one file each in predictions/ there; a folder gets one "
              "file each. evaluate: the report; empty for evaluation.html there"),
      COSMIC_KEY(mode.output_resolution)
          .used_by({Command::infer})
          .only_in({Mode::inference})
          .without_numbers()
          .says(
              "infer: network writes the probabilities of the pixels that the network saw, as the "
              "reference does. original adds tag and probabilities of every stored pixel of the "
              "input, in products of their own"),
      COSMIC_KEY(mode.checkpoint_iteration)
          .used_by({Command::train})
          .at_least(1)
          .at_most(kMostSteps)
          .only_in({Mode::train})
          .says("Updates between checkpoints"),
      COSMIC_KEY(mode.keep_checkpoints)
          .used_by({Command::train})
          .at_least(1)
          .at_most(kMostSteps)
          .only_in({Mode::train})
          .says("Number of checkpoints to keep; older ones are removed"),
      COSMIC_KEY(mode.keep_best)
          .used_by({Command::train})
          .requires_that([](const Situation& s) { return !s.configuration.data.synthetic; },
                         "there is no validation on noise")
          .only_in({Mode::train})
          .says("Also keep the checkpoint with the best validation"),
      COSMIC_KEY(mode.final_checkpoint)
          .used_by({Command::train})
          .only_in({Mode::train})
          .says("Write a checkpoint at the end, whatever the step (the reference does not)"),
      COSMIC_KEY(mode.instance_checkpoints)
          .used_by({Command::train})
          .only_in({Mode::train})
          .says("Every process also writes a copy of each checkpoint under PopDist's name, "
                "model-<step>-<instance>.safetensors"),
      COSMIC_KEY(mode.early_stopping_patience)
          .used_by({Command::train})
          .requires_that([](const Situation& s) { return !s.configuration.data.synthetic; },
                         "there is no validation on noise")
          .at_least(0)
          .at_most(kMostSteps)
          .only_in({Mode::train})
          .says("Stop after this many validations without improvement; 0 for never"),
      COSMIC_KEY(mode.weights_average)
          .used_by(kTrainingPrograms)
          .requires_that(
              [](const Situation& s) {
                return s.configuration.run.master_weights ||
                       s.configuration.run.precision == Precision::float32;
              },
              "an average that is rounded after each update stops moving, and "
              "run.master_weights=false rounds all there is")
          .at_least(0)
          .less_than(1)
          .only_in({Mode::train})
          .on_resume(OnResume::warn)
          .says("Decay of a moving average of all weights, such as 0.999; 0 for none. Validation, "
                "tagging and export use the average; training goes on with the weights "
                "themselves. The decay of update t is at most (1 + t) / (10 + t)"),
      COSMIC_KEY(mode.averaged_weights)
          .used_by({Command::infer, Command::evaluate, Command::export_network})
          .only_in({Mode::inference})
          .says("Use the moving averages of weights that have them; false for the weights of the "
                "last update"),
      COSMIC_KEY(mode.quantization_aware)
          .used_by({Command::train})
          .only_in({Mode::train})
          .says("Quantization-aware training; must be false, it is not supported"),
  };
  for (Key& key : optimizer_keys()) {
    key.modes = {Mode::train};
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace cosmic::config
