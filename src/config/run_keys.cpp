// The keys of `run` and the folder a run writes to.
#include "config/key_list.hpp"

namespace cosmic::config {

std::vector<Key> run_keys() {
  return {
      COSMIC_KEY(run.id).must_be_given().says(
          "Name of the run; the last folder of output_dir unless that is given"),
      COSMIC_KEY(run.compute_mode)
          .choice_also_called("CUDA", "GPU")
          .on_resume(OnResume::warn)
          .says("The kind of machine that computes; one that this build or this machine does not "
                "have is an error, never a fallback (the reference's default is GPU)"),
      COSMIC_KEY(run.machine)
          .on_resume(OnResume::warn)
          .says("Which machine of that kind, by name; empty for the usual one (see `cosmictagger "
                "targets`)"),
      COSMIC_KEY(run.device)
          .at_least(0)
          .says("Which device of that kind in this computer, counted from 0; where there is only "
                "one, such as the CPU, another number is an error"),
      COSMIC_KEY(run.threads)
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("Threads that compute; 0 for all cores. The same number gives the same bits"),
      COSMIC_KEY(run.iterations)
          .at_least(0)
          .says(
              "Updates (or batches) of this run; a restart adds as many again. 0 is no limit, and "
              "the default of inference: every event once"),
      COSMIC_KEY(run.length)
          .at_least(0)
          .also_called({"run.run_length"})
          .says("Length of the whole run, restarts included, in run.units; 0 to go by "
                "run.iterations"),
      COSMIC_KEY(run.units)
          .without_numbers()
          .also_called({"run.run_units"})
          .says("What run.length counts"),
      COSMIC_KEY(run.max_time)
          .says("Stop in time, with a checkpoint, before so much time has passed; 0 for no limit"),
      COSMIC_KEY(run.minibatch_size)
          .at_least(1)
          .on_resume(OnResume::warn)
          .says("Events of a batch: of all ranks together for files, of each rank for synthetic "
                "data"),
      COSMIC_KEY(run.aux_iterations)
          .at_least(1)
          .says("Updates between two validations, each on one batch of data.aux_file"),
      COSMIC_KEY(run.precision)
          .on_resume(OnResume::refuse)
          .says("Number format that activations are stored in and weights are read in; a format "
                "that the machine does not have is an error. Arithmetic and loss are float32. With "
                "float16 gradients are float32"),
      COSMIC_KEY(run.master_weights)
          .on_resume(OnResume::refuse)
          .says(
              "With bfloat16, update float32 weights and compute with their rounded values; false "
              "for bfloat16 throughout, as in the reference"),
      COSMIC_KEY(run.rounding)
          .without_numbers()
          .on_resume(OnResume::refuse)
          .says("Which of two neighbouring numbers is written in training: the nearest one, or "
                "either, at random and right on average; the seed is framework.seed"),
      COSMIC_KEY(run.partials)
          .without_numbers()
          .on_resume(OnResume::refuse)
          .says("What the products of a convolution are added up in, on machines that have the "
                "choice"),
      COSMIC_KEY(run.seed)
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("Seed for data.seed and framework.seed where they are 0; 0 for one from the clock, "
                "which is recorded"),
      COSMIC_KEY(run.distributed)
          .says("Share the work with the other processes of an MPI launcher, if there is one"),
      COSMIC_KEY(run.profile)
          .says("Write where time and memory went as a page, JSON and a Chrome trace"),
      COSMIC_KEY(run.saver).says("Write TensorBoard files"),
      COSMIC_KEY(run.broadcast_buffers)
          .says("Distributed: all ranks use the batch-norm buffers of rank 0"),
      COSMIC_KEY(run.horovod_num_groups)
          .at_least(0)
          .does_nothing("there is no Horovod here")
          .says("Groups of gradients that Horovod reduces together"),
      COSMIC_KEY(run.executable)
          .says("A file of `cosmictagger compile`: its programs are run and nothing is compiled; "
                "empty to compile"),
      COSMIC_KEY(run.executable_cache)
          .says("Folder where compiled programs are kept for the next start; empty for that of "
                "COSMIC_CACHE_DIR or POPTORCH_CACHE_DIR, if there is one"),
      COSMIC_KEY(run.executable_cache_gigabytes)
          .more_than(0)
          .says("Size of that folder; the programs that were used least recently are removed"),
      COSMIC_KEY(run.lazy_mode)
          .says(
              "Machines that are modelled: hand them whole programs; false for one launch of each "
              "op, and for one section of each on an RDU. Changes what is predicted, no result"),
      COSMIC_KEY(run.stages)
          .at_least(1)
          .says("Machines that share a step as a pipeline, in stages of about the same cost; needs "
                "mode.optimizer.gradient_accumulation of 2 x stages - 1 or more"),
      COSMIC_KEY(run.recompute)
          .says(
              "Compute activations again in the backward pass instead of keeping them, from layers "
              "that are chosen so that the least memory is needed"),
      COSMIC_KEY(run.section_plan)
          .on_resume(OnResume::warn)
          .says("RDU: a YAML file that says which layers are laid out on the chip together; empty "
                "for sections by rule (docs/models.md says how they are priced)"),
      COSMIC_KEY(output_dir)
          .says("Folder for everything that a run writes; empty for "
                "output/<framework.name>/<network.name>/<run.id>/"),
  };
}

}  // namespace cosmic::config
