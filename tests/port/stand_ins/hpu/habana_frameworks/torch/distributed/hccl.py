def initialize_distributed_hpu(world_size=-1, rank=-1, local_rank=-1):
    return 1, 0, -1
