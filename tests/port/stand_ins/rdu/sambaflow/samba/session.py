import copy
import os

import torch

host = device = optimizer = None


def compile(model, inputs, optimizers=None, name=None, app_dir=None, squeeze_bs_dim=False, config_dict=None, pef_metadata=None):
    assert config_dict["output_folder"] and pef_metadata["sambaflow_version"]
    folder = os.path.join(config_dict["output_folder"], config_dict["pef_name"])
    os.makedirs(folder, exist_ok=True)
    open(os.path.join(folder, config_dict["pef_name"] + ".pef"), "w").close()


def load(model, given):
    """Not of SambaFlow: what trace_graph does here."""
    global host, device, optimizer
    host = model
    device = model if os.environ.get("COSMIC_STAND_IN_HOST") else copy.deepcopy(model)
    if given:
        learnt = [p for p in device.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(learnt, 0.0, given.betas, given.eps, given.weight_decay)


def run(input_tensors, output_tensors, hyperparam_dict=None, section_types=None, data_parallel=False, reduce_on_rdu=False):
    assert len(output_tensors) == 2
    loss, logits = device(*input_tensors)
    if section_types is None:
        optimizer.param_groups[0]["lr"] = hyperparam_dict["lr"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.detach(), logits.detach()


def to_cpu(model):
    assert model is host
    if device is not host:
        host.load_state_dict(device.state_dict())
