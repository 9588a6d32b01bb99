// The keys of `data`: which events, and how they become images.
#include "config/key_list.hpp"

namespace cosmic::config {

std::vector<Key> data_keys() {
  return {
      COSMIC_KEY(data.synthetic)
          .set_by_group("data")
          .on_resume(OnResume::warn)
          .says("Use noise instead of events; set by the group data"),
      COSMIC_KEY(data.downsample)
          .at_least(0)
          .at_most(30)
          .on_resume(OnResume::refuse)
          .says("Number of times to halve both axes of an image"),
      COSMIC_KEY(data.img_transform)
          .on_resume(OnResume::refuse)
          .says("Use ln(charge + 1) instead of the charge, in all modes"),
      COSMIC_KEY(data.data_directory)
          .only_real_data()
          .says("Folder of the files, with or without a slash at the end; empty for this one"),
      COSMIC_KEY(data.file)
          .only_real_data()
          .on_resume(OnResume::warn)
          .says("larcv3 file with the events to train on or to tag"),
      COSMIC_KEY(data.aux_file)
          .only_real_data()
          .on_resume(OnResume::warn)
          .says("larcv3 file with the events to validate on; the reference's default is the test "
                "set, which should stay unseen"),
      COSMIC_KEY(data.image_producer)
          .only_real_data()
          .on_resume(OnResume::warn)
          .says("Producer of the images in the files"),
      COSMIC_KEY(data.label_producer)
          .only_real_data()
          .on_resume(OnResume::warn)
          .says("Producer of the labels in the files"),
      COSMIC_KEY(data.order)
          .only_in({Mode::train, Mode::iotest})
          .without_numbers()
          .also_called({"data.random_mode"})
          .only_real_data()
          .on_resume(OnResume::warn)
          .says("How batches are drawn. random_blocks: consecutive events from a random position. "
                "serial_access: in file order. shuffled: a new permutation in every epoch"),
      COSMIC_KEY(data.augment)
          .only_in({Mode::train, Mode::iotest})
          .without_numbers()
          .only_real_data()
          .on_resume(OnResume::warn)
          .says("flips: mirror the wire axis and the time axis, each with probability one half"),
      COSMIC_KEY(data.seed)
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("Seed for the order, the flips and synthetic images; 0 to use run.seed"),
      COSMIC_KEY(data.threads)
          .at_least(0)
          .only_real_data()
          .says("Threads that read ahead; 0 for all cores"),
      COSMIC_KEY(data.data_format)
          .also_called({"network.data_format"})
          .does_nothing("each target chooses the layout of its memory")
          .says("Position of the channels in memory"),
  };
}

std::vector<Key> framework_keys() {
  return {
      COSMIC_KEY(framework.name)
          .without_numbers()
          .set_by_group("framework")
          .says("Part of the output path, for scripts that expect it; nothing else depends on it"),
      COSMIC_KEY(framework.seed)
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("Seed for the initial weights; 0 to use run.seed"),
      COSMIC_KEY(framework.sparse)
          .says("Sparse convolutions; must be false, they are not supported"),
      COSMIC_KEY(framework.distributed_mode)
          .without_numbers()
          .does_nothing("there is only one way to reduce gradients here")
          .says("Library that all-reduces gradients"),
      COSMIC_KEY(framework.inter_op_parallelism_threads)
          .at_least(0)
          .does_nothing("run.threads says how many threads compute")
          .says("TensorFlow's inter-op threads"),
      COSMIC_KEY(framework.intra_op_parallelism_threads)
          .at_least(0)
          .does_nothing("run.threads says how many threads compute")
          .says("TensorFlow's intra-op threads"),
  };
}

}  // namespace cosmic::config
