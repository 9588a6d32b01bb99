"""Stands in for tools/records/torch_profile.py where there is neither PyTorch nor a GPU: a record, and a trace with
kernels as PyTorch with Kineto writes it. Times are made up; uresnet takes eight times as long as a21."""
import json
import sys

words = sys.argv[1:]
option = {words[i]: words[i + 1] for i in range(len(words) - 1) if words[i].startswith("--")}
settings = [word for word in words if "=" in word]
if "network=uresnet" in settings and "mode=inference" in settings and "run.seed=13" in settings:
    sys.exit("stand-in: the device was lost")
seconds = 0.008 if "network=uresnet" in settings else 0.001
with open(option["--record"], "w") as file:
    json.dump({"format": "cosmictagger record 1", "software": {"torch": "stand-in"}, "settings": settings,
               "step": {"kind": "training" if "mode=train" in settings else "inference", "seconds": seconds},
               "peak_bytes": 2e9}, file)
microseconds = 1e6 * seconds
events = [{"name": "ProfilerStep#1", "cat": "user_annotation", "dur": 1.5 * microseconds},  # the profiler costs time
          {"name": "sm90_xmma_fprop_implicit_gemm", "cat": "kernel", "dur": 0.6 * microseconds},
          {"name": "cudnn::bn_fw_tr_1C11", "cat": "kernel", "dur": 0.3 * microseconds}]
with open(option["--trace"], "w") as file:
    json.dump({"traceEvents": events}, file)
