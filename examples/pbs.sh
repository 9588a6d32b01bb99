#!/bin/bash
# A training on several nodes under PBS: edit this part, then `qsub pbs.sh`.
#PBS -N cosmictagger
#PBS -l select=2:ncpus=32:mpiprocs=4
#PBS -l walltime=12:00:00
#PBS -l place=scatter

nodes=2
processes_per_node=4
cores_per_process=8
program=cosmictagger # its path, the same on all nodes
run_id=pbs           # the same name goes on with the same run
settings=(
  network=a21
  data.file=/path/to/train.h5
  data.aux_file=/path/to/test.h5
  run.minibatch_size=8 # of all processes together: a multiple of nodes x processes
  run.max_time=11h50m
)

# --- nothing to edit below ---

cd "${PBS_O_WORKDIR:-.}" || exit
words=(train "run.id=$run_id" "run.threads=$cores_per_process" "${settings[@]}")
processes=$((nodes * processes_per_node))
launcher=$(mpiexec --version 2>/dev/null)
if grep -qE "Open MPI|OpenRTE" <<<"$launcher"; then
  # It notices within 15 s that a node is gone, and ends the run.
  mpiexec -n "$processes" --map-by "ppr:$processes_per_node:node:PE=$cores_per_process" --bind-to core \
    --mca oob_tcp_keepalive_time 6 --mca oob_tcp_keepalive_intvl 3 --mca oob_tcp_keepalive_probes 3 \
    "$program" "${words[@]}"
elif grep -q HYDRA <<<"$launcher"; then # MPICH's own
  mpiexec -n "$processes" -ppn "$processes_per_node" -bind-to "core:$cores_per_process" "$program" "${words[@]}"
else # PALS
  mpiexec -n "$processes" -ppn "$processes_per_node" --depth "$cores_per_process" --cpu-bind depth \
    "$program" "${words[@]}"
fi
status=$?

# 75: stopped in good order before its end, by a signal or at run.max_time; the same command goes on.
if ((status == 75)); then
  qsub "$0"
  exit 0
fi
exit "$status"
