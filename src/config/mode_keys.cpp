// The keys of `mode`: what is done with the network, and how it learns.
#include "config/key_list.hpp"

namespace cosmic::config {
namespace {

std::vector<Key> optimizer_keys() {
  return {
      COSMIC_KEY(mode.optimizer.name)
          .numbered({0, 1, 2})  // the reference's 3 is an optimizer that there is none of here
          .on_resume(OnResume::refuse)
          .says("How gradients become updates"),
      COSMIC_KEY(mode.optimizer.learning_rate)
          .more_than(0)
          .on_resume(OnResume::warn)
          .says("The highest learning rate of the schedule"),
      COSMIC_KEY(mode.optimizer.schedule)
          .without_numbers()
          .choice_also_called("standard", "warmup_flat_decay")
          .on_resume(OnResume::warn)
          .says("The learning rate over time. reference: one epoch from 1e-4 up, twenty flat, then "
                "exponentially back to 1e-4. warmup_flat_decay, one_cycle: v2.1's, stretched to "
                "the length of the run"),
      COSMIC_KEY(mode.optimizer.minimum_learning_rate)
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("one_cycle: where the rate starts and returns to"),
      COSMIC_KEY(mode.optimizer.floor_learning_rate)
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("warmup_flat_decay, one_cycle: what the rate tends to in the end"),
      COSMIC_KEY(mode.optimizer.decay_epochs)
          .at_least(0)
          .on_resume(OnResume::warn)
          .says(
              "warmup_flat_decay, one_cycle: epochs at the end in which the rate falls, as in the "
              "reference by a factor e every 100 updates: after some 500 it stays at its floor"),
      COSMIC_KEY(mode.optimizer.loss_balance_scheme)
          .numbered({0, 1, 3, 2})
          .on_resume(OnResume::warn)
          .says("What a pixel weighs. none: all alike. light: 1, 1.5, 10 for background, cosmic, "
                "neutrino. even: each class alike. focal: the worse predicted, the more"),
      COSMIC_KEY(mode.optimizer.class_weights.background)
          .more_than(0)
          .on_resume(OnResume::warn)
          .says("What a background pixel weighs, times what loss_balance_scheme says; not with "
                "even. Below 1, fewer pixels of tracks are lost to background, and more noise is "
                "taken for tracks"),
      COSMIC_KEY(mode.optimizer.class_weights.cosmic)
          .more_than(0)
          .on_resume(OnResume::warn)
          .says("The same for a cosmic pixel"),
      COSMIC_KEY(mode.optimizer.class_weights.neutrino)
          .more_than(0)
          .on_resume(OnResume::warn)
          .says(
              "The same for a neutrino pixel. Above 1, more of the neutrino is found, less purely"),
      COSMIC_KEY(mode.optimizer.gradient_accumulation)
          .at_least(1)
          .on_resume(OnResume::warn)
          .says("Batches whose gradients make one update; the schedule does not count them"),
      COSMIC_KEY(mode.optimizer.accumulation_reduction)
          .without_numbers()
          .on_resume(OnResume::warn)
          .says("Whether those gradients are added, as in the reference, or averaged"),
      COSMIC_KEY(mode.optimizer.beta1)
          .at_least(0)
          .less_than(1)
          .on_resume(OnResume::warn)
          .says("adam, adamw: memory of the gradient's mean"),
      COSMIC_KEY(mode.optimizer.beta2)
          .at_least(0)
          .less_than(1)
          .on_resume(OnResume::warn)
          .says("adam, adamw: memory of the gradient's square"),
      COSMIC_KEY(mode.optimizer.alpha)
          .at_least(0)
          .less_than(1)
          .on_resume(OnResume::warn)
          .says("rmsprop: memory of the gradient's square"),
      COSMIC_KEY(mode.optimizer.momentum)
          .at_least(0)
          .less_than(1)
          .on_resume(OnResume::refuse)
          .says("sgd: memory of the updates; 0 for none"),
      COSMIC_KEY(mode.optimizer.epsilon)
          .more_than(0)
          .on_resume(OnResume::warn)
          .says("adam, adamw, rmsprop: added where an update is divided; 1e-4 for rmsprop"),
      COSMIC_KEY(mode.optimizer.weight_decay)
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("adamw: share of a weight that an update of rate 1 takes away; 0.01 for adamw"),
  };
}

}  // namespace

std::vector<Key> mode_keys() {
  std::vector<Key> keys{
      COSMIC_KEY(mode.name).without_numbers().set_by_group("mode").says(
          "What the run does; the group mode sets it"),
      COSMIC_KEY(mode.weights_location)
          .says("Checkpoint to start from, a file or a folder of checkpoints; empty for the newest "
                "of this run"),
      COSMIC_KEY(mode.start_index)
          .at_least(0)
          .also_called({"data.start_index"})
          .on_resume(OnResume::warn)
          .says("First event that data.order = serial_access uses"),
      COSMIC_KEY(mode.no_summary_images)
          .says("Leave the pictures of predictions and labels out of the TensorBoard files"),
      COSMIC_KEY(mode.summary_iteration)
          .at_least(1)
          .only_in({Mode::train, Mode::inference})
          .says("Steps between two TensorBoard entries; every 25th has pictures"),
      COSMIC_KEY(mode.logging_iteration)
          .at_least(1)
          .only_in({Mode::train, Mode::inference})
          .says("Steps between two log lines"),
      COSMIC_KEY(mode.output_file)
          .only_in({Mode::inference})
          .says(
              "infer: larcv3 file for the predictions; empty for predictions.h5 in output_dir, or "
              "with several inputs for one file each in predictions/ there; a folder gets one "
              "file each. evaluate: the report; empty for evaluation.html there"),
      COSMIC_KEY(mode.checkpoint_iteration)
          .at_least(1)
          .only_in({Mode::train})
          .says("Updates between two checkpoints"),
      COSMIC_KEY(mode.keep_checkpoints)
          .at_least(1)
          .only_in({Mode::train})
          .says("How many checkpoints are kept, the newest ones"),
      COSMIC_KEY(mode.keep_best)
          .only_in({Mode::train})
          .says("Keep the checkpoint with the best validation besides"),
      COSMIC_KEY(mode.final_checkpoint)
          .only_in({Mode::train})
          .says("Write a checkpoint at the end, whatever the step (the reference does not)"),
      COSMIC_KEY(mode.early_stopping_patience)
          .at_least(0)
          .only_in({Mode::train})
          .says("Stop after so many validations without a better one; 0 for never"),
      COSMIC_KEY(mode.quantization_aware)
          .only_in({Mode::train})
          .says("Train for 8-bit numbers; only false, this program has no such training"),
  };
  for (Key& key : optimizer_keys()) {
    key.modes = {Mode::train};
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace cosmic::config
