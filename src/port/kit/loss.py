"""The loss, inside a module: a compiler of whole steps has to see it."""
import torch
from torch import nn

LIGHT = (1.0, 1.5, 10.0)  # background, cosmic, neutrino


class TrainingStep(nn.Module):
    """Image and labels [batch, planes, rows, columns] to the loss."""

    def __init__(self, network, optimizer):
        super().__init__()
        self.network = network
        self.scheme = optimizer["loss_balance_scheme"]
        self.class_weights = [optimizer["class_weights"][name] for name
                              in ("background", "cosmic", "neutrino")]
        if self.scheme == "light":
            self.class_weights = [mine * light for mine, light
                                  in zip(self.class_weights, LIGHT)]

    def forward(self, image, label):
        return self.loss(self.network(image), label)

    def loss(self, logits, label):
        return sum(self.plane_loss(logits[plane], label[:, plane])
                   for plane in range(len(logits)))

    def plane_loss(self, logits, label):
        """Weighted mean cross entropy. Weights have no gradient."""
        log_p = torch.log_softmax(logits.float(), 1)
        masks = [(label == c).float() for c in range(log_p.shape[1])]
        entropy = -sum(mask * log_p[:, c] for c, mask in enumerate(masks))
        class_weights = self.class_weights
        if self.scheme == "even":
            class_weights = [0.3333 / (mask.sum() + 1) for mask in masks]
        weight = sum(w * mask for w, mask in zip(class_weights, masks))
        if self.scheme == "focal":
            miss = 1 - torch.exp(-entropy.detach())
            weight = weight * miss * miss / 3
        total = weight.sum()
        # Without any weight there is no loss.
        return (weight * entropy).sum() / torch.where(
            total > 0, total, torch.ones_like(total))


class Tagger(nn.Module):
    """Image to probabilities [batch, planes, classes, rows, columns]."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, image):
        return torch.stack([torch.softmax(logits.float(), 1)
                            for logits in self.network(image)], 1)
