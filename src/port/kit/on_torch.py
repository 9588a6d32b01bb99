"""The run of settings.json in plain PyTorch, on a CPU or a CUDA GPU."""
import contextlib
import os
import resource

import torch

import loop
from loss import Tagger, TrainingStep


def make_optimizer(module, optimizer):
    """With a learning rate that every step sets."""
    learnt = [p for p in module.parameters() if p.requires_grad]
    name = optimizer["name"]
    if name in ("adam", "adamw"):
        betas = optimizer["beta1"], optimizer["beta2"]
        return torch.optim.AdamW(learnt, 0.0, betas, optimizer["epsilon"],
                                 optimizer["weight_decay"])
    if name == "rmsprop":
        return torch.optim.RMSprop(learnt, 0.0, optimizer["alpha"],
                                   optimizer["epsilon"])
    return torch.optim.SGD(learnt, 0.0, optimizer["momentum"])


class Machine:
    name = "torch"
    part, parts = 0, 1

    def __init__(self, network, settings, device=None, precision=None):
        run = settings["configuration"]["run"]
        optimizer = settings["configuration"]["mode"]["optimizer"]
        self.device = torch.device(
            device or os.environ.get("COSMIC_DEVICE", "cpu"))
        torch.backends.cuda.matmul.allow_tf32 = run["tf32"]
        torch.backends.cudnn.allow_tf32 = run["tf32"]
        self.network = network.to(self.device)
        self.training = TrainingStep(self.network, optimizer)
        self.optimizer = make_optimizer(self.training, optimizer)
        self.batch = run["minibatch_size"]
        self.micro_batches = optimizer["gradient_accumulation"]
        self.events_per_step = self.batch * self.micro_batches
        self.mean = optimizer["accumulation_reduction"] == "mean"
        self.precision = precision or run["precision"]
        self.scaler = torch.cuda.amp.GradScaler(
            enabled=self.precision == "mixed")
        self.loss_device = None

    def autocast(self):
        kinds = {"bfloat16": torch.bfloat16, "float16": torch.float16,
                 "mixed": torch.float16}
        if self.precision == "float32":
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, kinds[self.precision])

    def step(self, image, label, rate):
        self.network.train()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        total = 0.0
        for part in range(self.micro_batches):
            of = slice(part * self.batch, (part + 1) * self.batch)
            with self.autocast():
                loss = self.training(image[of].to(self.device),
                                     label[of].to(self.device))
            self.loss_device = loss.device
            share = self.micro_batches if self.mean else 1
            self.scaler.scale(loss / share).backward()
            self.mark_step()
            total += loss.item() / self.micro_batches
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.mark_step()
        return total

    def mark_step(self):
        """For machines that gather work: what there is so far runs."""

    def tag(self, image):
        self.network.eval()
        with torch.no_grad(), self.autocast():
            answer = Tagger(self.network)(image.to(self.device))
        self.loss_device = answer.device
        return answer.cpu().numpy()

    def weights(self):
        return {name: tensor.cpu().numpy() for name, tensor
                in self.network.state_dict().items()}

    def require_device(self):
        if self.loss_device.type != self.device.type:
            raise SystemExit(f"computed on {self.loss_device}, not on "
                             f"{self.device}")

    def peak_bytes(self):
        if self.device.type == "cuda":
            return torch.cuda.max_memory_allocated(self.device)
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def device_name(self):
        if self.device.type == "cuda":
            return torch.cuda.get_device_name(self.device)
        return self.device.type

    def versions(self):
        return {"cuda": torch.version.cuda}


def plain(network, settings):
    """What others are compared with."""
    return Machine(network, settings, "cpu", "float32")


if __name__ == "__main__":
    loop.main(Machine, plain)
