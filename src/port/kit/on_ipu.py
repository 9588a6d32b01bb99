"""The run of settings.json on IPUs, through PopTorch.

With poprun, each instance trains on its share of the events:
  poprun --num-instances 4 --num-replicas 4 python3 on_ipu.py train
"""
import popdist
import popdist.poptorch
import poptorch
import torch

import loop
import on_torch
from loss import Tagger, TrainingStep

# popart.RecomputationType, which PopTorch takes as a number.
RECOMPUTE_NOTHING, RECOMPUTE_STANDARD, RECOMPUTE_PIPELINE = 0, 1, 3


class MarkedStep(TrainingStep):
    """PopTorch has to be told which number is the loss."""

    def forward(self, image, label):
        return poptorch.identity_loss(super().forward(image, label),
                                      reduction="none")


def make_options(settings):
    """For training and tagging."""
    run, plan = settings["configuration"]["run"], settings["plan"]
    ipus = len(plan["blocks"])
    if popdist.isPopdistEnvSet():
        popdist.init()
        options = popdist.poptorch.Options(ipus_per_replica=ipus)
    else:
        options = poptorch.Options()
    options.randomSeed(run["seed"])  # the same in all instances
    options.logCycleCount(True)
    options.enableExecutableCaching("cache")
    options.setAvailableMemoryProportion(
        {f"IPU{i}": plan["available_memory_proportion"] for i in range(ipus)})
    if run["partials"] == "float16":
        options.Precision.setPartialsType(torch.half)
    options.Precision.enableStochasticRounding(
        run["rounding"] == "stochastic")
    return options


def make_training_options(settings):
    options = make_options(settings)
    run, plan = settings["configuration"]["run"], settings["plan"]
    optimizer = settings["configuration"]["mode"]["optimizer"]
    pipelined = len(plan["blocks"]) > 1
    options.outputMode(poptorch.OutputMode.All)
    options.Training.gradientAccumulation(optimizer["gradient_accumulation"])
    # PopTorch has one setting for micro-batches and replicas.
    mean = optimizer["accumulation_reduction"] == "mean"
    options.Training.accumulationAndReplicationReductionType(
        poptorch.ReductionType.Mean if mean else poptorch.ReductionType.Sum)
    if pipelined:
        options.setExecutionStrategy(
            poptorch.PipelinedExecution(poptorch.AutoStage.SameAsIpu))
    if plan["optimizer_state"] == "streamed":
        several = (popdist.isPopdistEnvSet()
                   and popdist.getNumTotalReplicas() > 1)
        options.TensorLocations.setOptimizerLocation(
            poptorch.TensorLocationSettings().useOnChipStorage(False)
            .useReplicatedTensorSharding(several))
    recompute = RECOMPUTE_NOTHING
    if run["recompute"]:
        recompute = RECOMPUTE_PIPELINE if pipelined else RECOMPUTE_STANDARD
    options._Popart.set("autoRecomputation", recompute)
    return options


def make_optimizer(module, optimizer):
    learnt = [p for p in module.parameters() if p.requires_grad]
    rate, name = optimizer["learning_rate"], optimizer["name"]
    if name in ("adam", "adamw"):
        return poptorch.optim.AdamW(
            learnt, lr=rate, betas=(optimizer["beta1"], optimizer["beta2"]),
            eps=optimizer["epsilon"], weight_decay=optimizer["weight_decay"],
            bias_correction=True, accum_type=torch.float32,
            first_order_momentum_accum_type=torch.float32,
            second_order_momentum_accum_type=torch.float32)
    if name == "rmsprop":
        return poptorch.optim.RMSprop(learnt, lr=rate,
                                      alpha=optimizer["alpha"],
                                      eps=optimizer["epsilon"])
    return poptorch.optim.SGD(learnt, lr=rate, momentum=optimizer["momentum"],
                              use_combined_accum=False)


class Machine:
    name = "ipu"

    def __init__(self, network, settings):
        self.settings = settings
        run = settings["configuration"]["run"]
        optimizer = settings["configuration"]["mode"]["optimizer"]
        self.half = run["precision"] in ("float16", "mixed")
        self.network = network.half() if self.half else network
        self.model = None
        self.part, self.parts, replicas = 0, 1, 1
        if popdist.isPopdistEnvSet():
            self.part = popdist.getInstanceIndex()
            self.parts = popdist.getNumInstances()
            replicas = popdist.getNumLocalReplicas()
        self.events_per_step = (run["minibatch_size"] * replicas
                                * optimizer["gradient_accumulation"])

    def start_training(self):
        optimizer = self.settings["configuration"]["mode"]["optimizer"]
        step = MarkedStep(self.network.train(), optimizer)
        modules = dict(step.named_modules())
        for ipu, module in enumerate(self.settings["plan"]["blocks"]):
            poptorch.BeginBlock(modules["network." + module], ipu_id=ipu)
        self.optimizer = make_optimizer(step, optimizer)
        self.model = poptorch.trainingModel(
            step, options=make_training_options(self.settings),
            optimizer=self.optimizer)

    def step(self, image, label, rate):
        if self.model is None:
            self.start_training()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.model.setOptimizer(self.optimizer)
        loss = self.model(self.cast(image), label.int())
        return loss.float().mean().item()

    def tag(self, image):
        if self.model is None:
            self.model = poptorch.inferenceModel(
                Tagger(self.network.eval()),
                options=make_options(self.settings))
        return self.model(self.cast(image)).float().numpy()

    def cast(self, image):
        return image.half() if self.half else image

    def weights(self):
        self.model.copyWeightsToHost()
        return {name: (tensor.float() if tensor.is_floating_point()
                       else tensor).numpy()
                for name, tensor in self.network.state_dict().items()}

    def require_device(self):
        if not isinstance(self.model, poptorch.PoplarExecutor):
            raise SystemExit("the model is plain PyTorch: it runs on the "
                             "host")
        if not (self.model.isCompiled() and self.model.isAttachedToDevice()):
            raise SystemExit("no compiled program is attached to an IPU")
        if self.model.cycleCount() <= 0:
            raise SystemExit("the last call took no cycle of an IPU")

    def peak_bytes(self):
        return None  # only a profile says it (POPLAR_ENGINE_OPTIONS)

    def device_name(self):
        return f"IPU, hardware version {poptorch.ipuHardwareVersion()}"

    def versions(self):
        return {"poptorch": poptorch.__version__}


if __name__ == "__main__":
    loop.main(Machine, on_torch.plain)
