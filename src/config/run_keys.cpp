// The keys of `run` and the folder a run writes to.
#include <cstdlib>

#include "config/key_list.hpp"

namespace cosmic::config {
namespace {

/// Is there a folder of programs that no setting names?
bool cache_of_environment() {
  for (const char* const name :
       {"COSMIC_CACHE_DIR", "POPTORCH_CACHE_DIR", "POPDIST_EXECUTABLE_CACHE_PATH"}) {
    if (std::getenv(name) != nullptr) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Key> run_keys() {
  return {
      COSMIC_KEY(run.id)
          .used_by(kAllCommands)
          .must_be_given()
          .says("Name of the run, and of its output folder unless output_dir is given"),
      COSMIC_KEY(run.compute_mode)
          .used_by(kProgramCommands)
          .choice_also_called("CUDA", "GPU")
          .on_resume(OnResume::warn)
          .says("The kind of machine to compute on; one that is not available is an error, there "
                "is no fallback (the reference's default is GPU)"),
      COSMIC_KEY(run.machine)
          .used_by(kProgramCommands)
          .on_resume(OnResume::warn)
          .says("Which machine of that kind, by name or description file; empty for the default "
                "one (see `cosmictagger targets`)"),
      COSMIC_KEY(run.device)
          .used_by(kProgramCommands)
          .at_least(kAutomaticDevice)
          .at_most(kMostDevices)
          .says("Which device of that kind in this computer, counted from 0; where there is only "
                "one, such as the CPU, another number is an error. -1 for the first, or with "
                "several processes on a host a device for each"),
      COSMIC_KEY(run.threads)
          .used_by(kRunningCommands)
          .at_least(0)
          .at_most(kMostThreads)
          .on_resume(OnResume::warn)
          .says(
              "Threads that compute. 0 for OMP_NUM_THREADS if it is set, else SLURM_CPUS_PER_TASK, "
              "else all cores that the process may use (affinity, quota of its control group). The "
              "same number gives the same bits. With the data.threads that read, they are all "
              "threads of a run: two with run.threads=1"),
      COSMIC_KEY(run.iterations)
          .used_by({Command::train, Command::infer, Command::evaluate, Command::iotest})
          .needs(
              [](const Situation& s) {
                return s.configuration.mode.name != Mode::train || s.configuration.run.length == 0;
              },
              "run.length says when the run ends")
          .at_least(0)
          .at_most(kMostSteps)
          .says(
              "Number of updates in all, restarts included (or batches); see run.restart. 0 means "
              "no limit, which is the default for inference: every event once"),
      COSMIC_KEY(run.restart)
          .used_by({Command::train})
          .only_in({Mode::train})
          .needs([](const Situation& s) { return s.configuration.run.length == 0; },
                 "run.length says when the run ends")
          .without_numbers()
          .says("What run.iterations means to a run that resumes. until: the total, so that a "
                "command that is repeated comes to an end. again: that many more at every start, "
                "as in the reference"),
      COSMIC_KEY(run.log_every)
          .used_by({Command::train, Command::infer})
          .says("Time between two lines about steps on the terminal, 0 for all of them; "
                "process.log has them all (mode.logging_iteration)"),
      COSMIC_KEY(run.length)
          .used_by({Command::train})
          .at_least(0)
          .at_most(kMostSteps)
          .also_called({"run.run_length"})
          .says("Total length of the run, restarts included, in run.units; 0 to use run.iterations "
                "instead"),
      COSMIC_KEY(run.units)
          .used_by({Command::train})
          .needs([](const Situation& s) { return s.configuration.run.length > 0; },
                 "it is the unit of run.length, which is 0")
          .without_numbers()
          .also_called({"run.run_units"})
          .says("What run.length counts"),
      COSMIC_KEY(run.max_time)
          .used_by({Command::train})
          .requires_that(
              [](const Situation& s) { return s.configuration.mode.name == Mode::train; },
              "only training ends in time with everything saved")
          .says("Time limit: stop with a checkpoint before it is reached; 0 for no limit"),
      COSMIC_KEY(run.minibatch_size)
          .used_by({Command::train, Command::infer, Command::evaluate, Command::iotest,
                    Command::compile, Command::test, Command::explain,
                    Command::measure_performance})
          .at_least(1)
          .at_most(kMostBatchEvents)
          .on_resume(OnResume::warn)
          .says("Events per batch: the global batch size for files, the batch size per rank for "
                "synthetic data"),
      COSMIC_KEY(run.aux_iterations)
          .used_by({Command::train})
          .needs(on_events, "there is no validation on noise")
          .at_least(1)
          .at_most(kMostSteps)
          .says("Updates between two validations, each on one batch of data.aux_file"),
      COSMIC_KEY(run.precision)
          .used_by(kProgramCommands)
          .on_resume(OnResume::refuse)
          .says("Number format in which activations are stored and weights are read; one that the "
                "machine does not have is an error. Arithmetic and loss are float32. With float16, "
                "gradients are float32; mixed is float16 with float16 gradients and loss scaling"),
      COSMIC_KEY(run.master_weights)
          .used_by(kProgramCommands)
          .on_resume(OnResume::refuse)
          .says("With bfloat16: update float32 weights and compute with rounded copies; false for "
                "bfloat16 throughout, as in the reference"),
      COSMIC_KEY(run.rounding)
          .used_by(kProgramCommands)
          .needs(
              [](const Situation& s) { return s.configuration.mode.name == Mode::train; },
              "only training rounds at random; an answer is always rounded to the nearest number")
          .without_numbers()
          .on_resume(OnResume::refuse)
          .says("How training rounds what it writes: to the nearest number, or up or down at "
                "random so that the mean is right; seeded by framework.seed"),
      COSMIC_KEY(run.partials)
          .used_by(kProgramCommands)
          .without_numbers()
          .on_resume(OnResume::refuse)
          .says("Format in which the products of a convolution are accumulated, on machines that "
                "offer a choice"),
      COSMIC_KEY(run.tf32)
          .used_by(kProgramCommands)
          .on_resume(OnResume::refuse)
          .says("With float32 on a GPU: round the factors of products to tf32 (10 bits after the "
                "point instead of 23), which its product units multiply several times as fast"),
      COSMIC_KEY(run.seed)
          .used_by({Command::train, Command::iotest})
          .needs(
              [](const Situation& s) {
                return s.configuration.data.seed == 0 || s.configuration.framework.seed == 0;
              },
              "data.seed and framework.seed are both given")
          .at_least(0)
          .on_resume(OnResume::warn)
          .says("Used for data.seed and framework.seed if they are 0; 0 takes a seed from the "
                "clock and records it"),
      COSMIC_KEY(run.distributed)
          .used_by(kRunCommands)
          .says("Share the work with the other processes started by an MPI launcher, if any"),
      COSMIC_KEY(run.max_wait)
          .used_by(kRunCommands)
          .says("With several processes: end all of them with status 75 when the others have "
                "waited this long for one that is alive but hangs; 0 to wait as long as it takes"),
      COSMIC_KEY(run.profile)
          .used_by({Command::train, Command::infer})
          .says("Write a profile of time and memory as a page, JSON and a Chrome trace"),
      COSMIC_KEY(run.saver).used_by({Command::train}).says("Write TensorBoard files"),
      COSMIC_KEY(run.broadcast_buffers)
          .used_by({Command::train})
          .on_resume(OnResume::warn)
          .says("With several processes or replicas: keep the running statistics of the first of "
                "them, as the reference does; false for the mean over all"),
      COSMIC_KEY(run.exchange)
          .used_by({Command::train, Command::measure_performance})
          .needs([](const Situation& s) { return s.configuration.mode.name == Mode::train; },
                 "only training exchanges gradients")
          .on_resume(OnResume::warn)
          .says("How processes that train together add up gradients: device for straight between "
                "devices (NCCL between GPUs), host for by way of the hosts' memory, which "
                "processes that share a GPU need; automatic for device on GPUs and host "
                "elsewhere. One process that is given device or host exchanges with itself"),
      COSMIC_KEY(run.replicas)
          .used_by({Command::train})
          .also_called({"run.num_replicas"})
          .at_least(1)
          .at_most(kMostReplicas)
          .on_resume(OnResume::warn)
          .says(
              "Copies of the model in each process that see different parts of a batch, one after "
              "the other; the batch is divided by processes times replicas"),
      COSMIC_KEY(run.gradient_reduction)
          .used_by({Command::train})
          .without_numbers()
          .on_resume(OnResume::warn)
          .says("With several processes or replicas: an update uses the mean of their gradients, "
                "or the sum, as if the learning rate were as many times as large"),
      COSMIC_KEY(run.exchange_precision)
          .used_by({Command::train, Command::explain})
          .needs([](const Situation& s) { return s.configuration.mode.name == Mode::train; },
                 "inference has no gradients to exchange")
          .without_numbers()
          .on_resume(OnResume::warn)
          .says("Number format in which gradients travel between processes; bfloat16 halves the "
                "bytes. Sums are made in float32 and rounded once"),
      COSMIC_KEY(run.horovod_num_groups)
          .at_least(0)
          .at_most(kMostReplicas)
          .does_nothing("there is no Horovod here")
          .says("Groups of gradients that Horovod reduces together"),
      COSMIC_KEY(run.executable)
          .used_by(kRunningCommands)
          .says("A file written by `cosmictagger compile`: run its programs instead of compiling; "
                "empty to compile"),
      COSMIC_KEY(run.executable_cache)
          .used_by({Command::train, Command::infer, Command::evaluate, Command::compile,
                    Command::test, Command::measure_performance})
          .needs([](const Situation& s) { return s.configuration.run.executable.empty(); },
                 "nothing is compiled where run.executable has the programs")
          .says("Cache folder for compiled programs; empty to use COSMIC_CACHE_DIR or "
                "POPTORCH_CACHE_DIR, if set"),
      COSMIC_KEY(run.executable_cache_gigabytes)
          .used_by({Command::train, Command::infer, Command::evaluate, Command::compile,
                    Command::test, Command::measure_performance})
          .needs([](const Situation& s) { return s.configuration.run.executable.empty(); },
                 "nothing is compiled where run.executable has the programs")
          .needs(
              [](const Situation& s) {
                return !s.configuration.run.executable_cache.empty() || cache_of_environment();
              },
              "there is no such folder; name one with run.executable_cache")
          .more_than(0)
          .says("Size limit of that folder; the least recently used programs are removed"),
      COSMIC_KEY(run.lazy_mode)
          .used_by(kProgramCommands)
          .needs(
              [](const Situation& s) {
                return on_modelled_machine(s) || s.command == Command::explain;
              },
              "only a machine that is modelled can be handed its work op by op; this one is always "
              "given whole programs")
          .says(
              "Machines that are modelled: hand them whole programs; false for one launch of each "
              "op, and for one section of each on an RDU. Changes what is predicted, no result"),
      COSMIC_KEY(run.stages)
          .used_by(kProgramCommands)
          .requires_that(
              [](const Situation& s) {
                return s.configuration.mode.name != Mode::inference ||
                       s.command == Command::explain;
              },
              "inference hands the network one batch at a time, so a pipeline of stages would "
              "never have two to work on")
          .needs(
              [](const Situation& s) {
                return on_modelled_machine(s) || s.command == Command::explain;
              },
              "this machine is one, and computes one stage after the other")
          .at_least(1)
          .at_most(kMostStages)
          .says("Machines that share a step as a pipeline, in stages of about the same cost; needs "
                "mode.optimizer.gradient_accumulation of 2 x stages - 1 or more"),
      COSMIC_KEY(run.recompute)
          .used_by(kProgramCommands)
          .requires_that(
              [](const Situation& s) { return s.configuration.mode.name != Mode::inference; },
              "inference has no backward pass that anything would be kept for")
          .says("Recompute activations in the backward pass instead of keeping them; the layers to "
                "keep are chosen for the least memory"),
      COSMIC_KEY(run.section_plan)
          .used_by(kProgramCommands)
          .requires_that(
              [](const Situation& s) {
                return s.configuration.run.compute_mode == ComputeMode::rdu;
              },
              "only an RDU lays programs out in sections")
          .on_resume(OnResume::warn)
          .says("RDU: a YAML file that lists which layers share the chip; empty for automatic "
                "sections (docs/models.md explains their cost)"),
      COSMIC_KEY(output_dir)
          .used_by(kRunCommands)
          .says("Folder for everything the run writes; empty for "
                "output/<framework.name>/<network.name>/<run.id>/"),
  };
}

}  // namespace cosmic::config
