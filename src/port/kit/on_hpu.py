"""The run of settings.json on Gaudi, through Habana's PyTorch bridge.

Several devices: mpirun -n 8 python3 on_hpu.py train
"""
import os

import loop

RUN = loop.load_settings()["configuration"]["run"]
# The bridge reads these once, when it is loaded.
os.environ.setdefault("PT_HPU_LAZY_MODE", "1" if RUN["lazy_mode"] else "0")
os.environ.setdefault("PT_HPU_AUTOCAST_LOWER_PRECISION_OPS_LIST",
                      str(loop.HERE / "ops_bfloat16.txt"))
os.environ.setdefault("PT_HPU_AUTOCAST_FP32_OPS_LIST",
                      str(loop.HERE / "ops_float32.txt"))

import habana_frameworks.torch.core as htcore  # noqa: E402
import habana_frameworks.torch.hpu as hthpu  # noqa: E402
import torch  # noqa: E402
from habana_frameworks.torch.distributed.hccl import (  # noqa: E402
    initialize_distributed_hpu)
from habana_frameworks.torch.hpu.metrics import metric_global  # noqa: E402

import on_torch  # noqa: E402


class Machine(on_torch.Machine):
    """As in plain PyTorch, but that work is gathered into graphs."""

    name = "hpu"

    def __init__(self, network, settings):
        super().__init__(network, settings, "hpu")
        self.lazy = RUN["lazy_mode"]
        self.parts, self.part, _ = initialize_distributed_hpu()
        if self.parts > 1:
            torch.distributed.init_process_group(
                "hccl", rank=self.part, world_size=self.parts)
            self.training = torch.nn.parallel.DistributedDataParallel(
                self.training, broadcast_buffers=RUN["broadcast_buffers"])
        if not self.lazy:
            self.training = torch.compile(self.training,
                                          backend="hpu_backend")

    def mark_step(self):
        if self.lazy:
            htcore.mark_step()

    def require_device(self):
        super().require_device()
        if any(p.device.type != "hpu" for p in self.network.parameters()):
            raise SystemExit("weights are not on the device")
        fallbacks = dict(metric_global("cpu_fallback").stats())
        if fallbacks["TotalNumber"] > 0:
            raise SystemExit(f"ops ran on the host: {fallbacks}")

    def peak_bytes(self):
        return hthpu.max_memory_allocated()

    def device_name(self):
        return hthpu.get_device_name()

    def versions(self):
        return {"PT_HPU_LAZY_MODE": os.environ["PT_HPU_LAZY_MODE"]}


if __name__ == "__main__":
    loop.main(Machine, on_torch.plain)
