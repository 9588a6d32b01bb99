"""The run of settings.json on an RDU, through SambaFlow.

Verbs are SambaFlow's: compile, run, test and measure-performance.
"""
import sambaflow.samba.utils as utils
import torch
from sambaflow import __version__ as sambaflow_version
from sambaflow import samba
from sambaflow.samba.utils.argparser import parse_app_args
from sambaflow.samba.utils.pef_utils import get_pefmeta

import loop
import on_torch
from loss import TrainingStep


class StepWithLogits(TrainingStep):
    """Tagging reads the logits, training the loss."""

    def forward(self, image, label):
        logits = self.network(image)
        return self.loss(logits, label), torch.stack(list(logits), 1)


class Machine:
    name = "rdu"
    part, parts = 0, 1

    def __init__(self, network, settings, arguments):
        run = settings["configuration"]["run"]
        optimizer = settings["configuration"]["mode"]["optimizer"]
        image = settings["image"]
        shape = (run["minibatch_size"], 3, image["rows"], image["columns"])
        self.arguments = arguments
        self.events_per_step = run["minibatch_size"]
        self.narrow = run["precision"] == "bfloat16"
        self.network = network.bfloat16() if self.narrow else network
        self.model = StepWithLogits(self.network, optimizer)
        self.optimizer = None
        samba.from_torch_model_(self.model)
        if arguments.inference:
            self.model.eval()
        else:
            learnt = [p for p in self.model.parameters() if p.requires_grad]
            self.optimizer = samba.optim.AdamW(
                learnt, lr=0.0, betas=(optimizer["beta1"],
                                       optimizer["beta2"]),
                eps=optimizer["epsilon"],
                weight_decay=optimizer["weight_decay"])
        self.inputs = (
            self.cast(samba.randn(*shape, name="image", batch_dim=0)),
            samba.randint(3, shape, name="label", batch_dim=0))
        self.on_device = False

    def cast(self, image):
        return image.bfloat16() if self.narrow else image

    def compile(self):
        metadata = get_pefmeta(self.arguments, self.model)
        metadata["sambaflow_version"] = sambaflow_version
        samba.session.compile(self.model, self.inputs, self.optimizer,
                              name="cosmictagger",
                              app_dir=utils.get_file_dir(__file__),
                              config_dict=vars(self.arguments),
                              pef_metadata=metadata)

    def load(self):
        utils.trace_graph(self.model, self.inputs, self.optimizer,
                          pef=self.arguments.pef,
                          mapping=self.arguments.mapping)

    def run(self, image, label, **options):
        tensors = [samba.from_torch_tensor(self.cast(image), name="image",
                                           batch_dim=0),
                   samba.from_torch_tensor(label, name="label", batch_dim=0)]
        outputs = samba.session.run(input_tensors=tensors,
                                    output_tensors=self.model.output_tensors,
                                    **options)
        return [samba.to_torch(output).float() for output in outputs]

    def step(self, image, label, rate):
        # The device trains its own copy: ours changes when it is fetched,
        # and not before.
        ours = self.network.bottleneck.weight
        before = ours.detach().clone()
        loss, _ = self.run(image, label, hyperparam_dict={"lr": rate},
                           data_parallel=self.arguments.data_parallel,
                           reduce_on_rdu=self.arguments.reduce_on_rdu)
        if not self.on_device:
            untouched = torch.equal(before, ours)
            samba.session.to_cpu(self.model)
            self.on_device = untouched and not torch.equal(before, ours)
        return loss.mean().item()

    def tag(self, image):
        label = torch.zeros(image.shape, dtype=torch.int64)
        _, logits = self.run(image, label, section_types=["fwd"])
        self.on_device = True  # nothing but the PEF can have computed it
        return torch.softmax(logits, 2).numpy()

    def weights(self):
        samba.session.to_cpu(self.model)
        return {name: (tensor.float() if tensor.is_floating_point()
                       else tensor).numpy()
                for name, tensor in self.network.state_dict().items()}

    def require_device(self):
        if not self.on_device:
            raise SystemExit("the weights of the device did not change, or "
                             "the host trained them")

    def peak_bytes(self):
        return None  # SambaFlow has no such counter

    def device_name(self):
        return "RDU"

    def versions(self):
        return {"sambaflow": sambaflow_version}


def add_arguments(parser):
    parser.add_argument("--steps", type=int)
    parser.add_argument("--tolerance", type=float, default=0.05)
    parser.add_argument("--output")
    parser.add_argument("--events", metavar="FOLDER",
                        help="where the files of settings.json are")
    parser.add_argument("--files", nargs="+", help="events to tag; with "
                        "--inference and a PEF that was compiled with it")


def main():
    arguments = parse_app_args(dev_mode=True,
                               common_parser_fn=add_arguments)
    settings = loop.load_settings()
    loop.look_in(arguments.events, settings)
    machine = Machine(loop.load_network(settings), settings, arguments)
    if arguments.command == "compile":
        machine.compile()
        return
    machine.load()
    if arguments.command == "test":
        plain = on_torch.plain(loop.load_network(settings), settings)
        loop.compare(settings, machine, plain, arguments.steps or 3,
                     arguments.tolerance)
    elif arguments.command == "measure-performance":
        loop.measure(settings, machine, arguments.steps or 20,
                     arguments.output or "record.json")
    elif arguments.inference:
        loop.tag(settings, machine, arguments.files,
                 arguments.output or "tags.h5")
    else:
        loop.train(settings, machine, arguments.steps,
                   arguments.output or "trained.safetensors")


if __name__ == "__main__":
    main()
