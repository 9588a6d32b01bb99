#!/bin/bash
# A training on several nodes under Slurm: edit this part, then `sbatch slurm.sh`.
#SBATCH --job-name=cosmictagger
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=12:00:00
#SBATCH --signal=TERM@120

program=cosmictagger # its path, the same on all nodes
run_id=slurm         # the same name goes on with the same run
settings=(
  network=a21
  data.file=/path/to/train.h5
  data.aux_file=/path/to/test.h5
  run.minibatch_size=8 # of all processes together: a multiple of nodes x tasks
  run.max_time=11h50m
)

# --- nothing to edit below ---

# Cores are the launcher's to divide; a process that fails ends all. `srun --mpi=list` names the kinds
# that this Slurm has, if it is built without pmix.
srun --mpi=pmix --cpu-bind=cores --kill-on-bad-exit=1 \
  "$program" train run.id="$run_id" "${settings[@]}"
status=$?

# 75: stopped in good order before its end, by the signal or at run.max_time; the same command goes on.
if ((status == 75)); then
  sbatch "$0"
  exit 0
fi
exit "$status"
