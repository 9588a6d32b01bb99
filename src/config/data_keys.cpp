// The keys of `data`: which events, and how they become images.
#include "config/key_list.hpp"

namespace cosmic::config {

std::vector<Key> data_keys() {
  return {
      COSMIC_KEY(data.synthetic)
          .used_by(kAllCommands)
          .set_by_group("data")
          .only_with({DataKind::real, DataKind::synthetic})
          .on_resume(OnResume::warn)
          .says("Use noise instead of events; set by the group data"),
      COSMIC_KEY(data.detector)
          .used_by(kAllCommands)
          .set_by_group("data")
          .only_with({DataKind::detector})
          .on_resume(OnResume::warn)
          .says("Events are made by the simulated detector, each of them new; set by the group "
                "data"),
      COSMIC_KEY(data.downsample)
          .used_by({Command::train, Command::infer, Command::evaluate, Command::iotest,
                    Command::compile, Command::test, Command::explain, Command::measure_performance,
                    Command::export_network})
          .at_least(0)
          .at_most(30)
          .on_resume(OnResume::refuse)
          .belongs_to_weights("in images of another scale, tracks look like nothing they learned")
          .says("Number of times to halve both axes of an image"),
      COSMIC_KEY(data.img_transform)
          .used_by({Command::train, Command::infer, Command::evaluate, Command::test,
                    Command::measure_performance, Command::export_network})
          .needs(on_events, "noise is used as it is")
          .on_resume(OnResume::refuse)
          .belongs_to_weights("charge on another scale means something else to them")
          .says("Use ln(charge + 1) instead of the charge, in all modes"),
      COSMIC_KEY(data.data_directory)
          .used_by({Command::train, Command::infer, Command::evaluate, Command::iotest,
                    Command::compile, Command::test, Command::measure_performance})
          .only_real_data()
          .says("Folder of the files, with or without a slash at the end; empty for this one"),
      COSMIC_KEY(data.file)
          .used_by({Command::train, Command::infer, Command::evaluate, Command::iotest,
                    Command::compile, Command::test, Command::measure_performance})
          .only_real_data()
          .on_resume(OnResume::warn)
          .says("larcv3 files with the events to train on or to tag: one, a list [a.h5,b.h5], or a "
                "pattern such as 'runs/*.h5'. Events follow one another in the order of the list, "
                "those of a pattern by name"),
      COSMIC_KEY(data.aux_file)
          .used_by({Command::train})
          .only_real_data()
          .on_resume(OnResume::warn)
          .says(
              "larcv3 files with the events to validate on, as data.file; the reference's default "
              "is the test set, which should stay unseen"),
      COSMIC_KEY(data.image_producer)
          .used_by({Command::train, Command::infer, Command::evaluate, Command::iotest,
                    Command::compile, Command::test, Command::measure_performance,
                    Command::export_network})
          .only_real_data()
          .on_resume(OnResume::warn)
          .belongs_to_weights("another producer's images are another measurement")
          .says("Producer of the images in the files"),
      COSMIC_KEY(data.label_producer)
          .used_by({Command::train, Command::infer, Command::evaluate, Command::iotest,
                    Command::test, Command::measure_performance, Command::export_network})
          .only_real_data()
          .on_resume(OnResume::warn)
          .belongs_to_weights("the classes that they tag are those of these labels")
          .says("Producer of the labels in the files"),
      COSMIC_KEY(data.order)
          .used_by({Command::train, Command::iotest})
          .only_in({Mode::train, Mode::iotest})
          .without_numbers()
          .also_called({"data.random_mode"})
          .only_real_data()
          .on_resume(OnResume::warn)
          .says("How batches are drawn. random_blocks: consecutive events from a random position. "
                "serial_access: in file order. shuffled: a new permutation in every epoch"),
      COSMIC_KEY(data.augment)
          .used_by({Command::train, Command::iotest})
          .only_in({Mode::train, Mode::iotest})
          .without_numbers()
          .only_real_data()
          .on_resume(OnResume::warn)
          .says("flips: mirror the wire axis and the time axis, each with probability one half"),
      COSMIC_KEY(data.augment_charge)
          .used_by({Command::train, Command::iotest})
          .only_in({Mode::train, Mode::iotest})
          .only_with({DataKind::real, DataKind::detector})
          .at_least(0)
          .less_than(1)
          .on_resume(OnResume::warn)
          .says("Multiply the charges of each plane of an event by a random factor between 1 - x "
                "and 1 + x, as another gain would; 0 for none"),
      COSMIC_KEY(data.augment_noise)
          .used_by({Command::train, Command::iotest})
          .only_in({Mode::train, Mode::iotest})
          .only_with({DataKind::real, DataKind::detector})
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("Add normal noise of this standard deviation to the charge of each stored pixel "
                "(not below 0); 0 for none"),
      COSMIC_KEY(data.augment_dead_wires)
          .used_by({Command::train, Command::iotest})
          .only_in({Mode::train, Mode::iotest})
          .only_with({DataKind::real, DataKind::detector})
          .at_least(0)
          .less_than(1)
          .on_resume(OnResume::warn)
          .says("Chance of each wire to be dead in an event: its pixels and labels are gone"),
      COSMIC_KEY(data.seed)
          .used_by({Command::train, Command::iotest})
          .needs(
              [](const Situation& s) {
                return s.configuration.data.kind() != DataKind::real ||
                       s.configuration.data.order != EventOrder::serial_access ||
                       s.configuration.data.augment != Augmentation::none ||
                       s.configuration.data.augment_charge > 0 ||
                       s.configuration.data.augment_noise > 0 ||
                       s.configuration.data.augment_dead_wires > 0;
              },
              "nothing is drawn at random with data.order=serial_access and no augmentation")
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("Seed for the order, the augmentation, synthetic images and the events of "
                "data=detector; "
                "0 to use run.seed"),
      COSMIC_KEY(data.threads)
          .used_by({Command::train, Command::infer, Command::evaluate, Command::iotest})
          .at_least(0)
          .at_most(kMostThreads)
          .only_with({DataKind::real, DataKind::detector})
          .says("Threads that read or make events ahead; 0 for all cores. One of several works for "
                "the validation; a "
                "single one works for training alone, and a validation waits for its batch"),
      COSMIC_KEY(data.epoch_events)
          .used_by({Command::train})
          .at_least(1)
          .at_most(kMostSteps)
          .only_with({DataKind::detector})
          .on_resume(OnResume::warn)
          .says("Events that count as one epoch where a schedule or run.units=epoch counts in "
                "epochs, although none comes twice; the default is the size of the reference's "
                "training file"),
      COSMIC_KEY(data.data_format)
          .also_called({"network.data_format"})
          .does_nothing("each target chooses the layout of its memory")
          .says("Position of the channels in memory"),
  };
}

std::vector<Key> framework_keys() {
  return {
      COSMIC_KEY(framework.name)
          .used_by(kAllCommands)
          .without_numbers()
          .set_by_group("framework")
          .says("Part of the output path, for scripts that expect it; nothing else depends on it"),
      COSMIC_KEY(framework.seed)
          .used_by({Command::train, Command::test, Command::measure_performance})
          .needs(
              [](const Situation& s) {
                return s.configuration.mode.weights_location.empty() ||
                       s.configuration.run.rounding == Rounding::stochastic;
              },
              "the first weights are those of mode.weights_location")
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("Seed for the initial weights; 0 to use run.seed"),
      COSMIC_KEY(framework.sparse)
          .used_by(kNetworkCommands)
          .says("Sparse convolutions; must be false, they are not supported"),
      COSMIC_KEY(framework.distributed_mode)
          .without_numbers()
          .does_nothing("there is only one way to reduce gradients here")
          .says("Library that all-reduces gradients"),
      COSMIC_KEY(framework.inter_op_parallelism_threads)
          .at_least(0)
          .at_most(kMostThreads)
          .does_nothing("run.threads says how many threads compute")
          .says("TensorFlow's inter-op threads"),
      COSMIC_KEY(framework.intra_op_parallelism_threads)
          .at_least(0)
          .at_most(kMostThreads)
          .does_nothing("run.threads says how many threads compute")
          .says("TensorFlow's intra-op threads"),
  };
}

}  // namespace cosmic::config
