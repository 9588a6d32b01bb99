"""CosmicTagger's U-ResNet in plain PyTorch, each plane a 2D image.

Modules have the reference's names, so that weights load by name. All planes
share the weights. Modules take and return a list of tensors, each of which
is normalised by itself: one for each plane, or a single one with the images
of all planes where network.plane_statistics is shared.
"""
import torch
from torch import nn
from torch.nn import functional

PLANES = 3
CLASSES = 3
SLOPE = 0.01


def channels_at(options, level):
    """Channels at a level of the U, 0 (full resolution) to depth."""
    if options["growth_rate"] == "multiplicative":
        return options["n_initial_filters"] * 2**level
    return options["n_initial_filters"] * (level + 1)


class Block(nn.Module):
    """Convolution, batch norm if there is any, activation."""

    def __init__(self, options, channels, filters, size, stride=1,
                 transposed=False, activation=True):
        super().__init__()
        kind = nn.ConvTranspose2d if transposed else nn.Conv2d
        self.conv = kind(channels, filters, size, stride, (size - 1) // 2,
                         bias=options["bias"])
        self.norm = nn.Identity()
        self.activation = nn.LeakyReLU(SLOPE) if activation else nn.Identity()
        if options["normalization"] == "batch":
            self.norm = nn.BatchNorm2d(filters)
            if options["bias"]:
                # The norm cancels it. Its gradient is rounding noise, which
                # Adam would turn into steps as large as the learning rate.
                self.conv.bias.requires_grad_(False)

    def forward(self, planes):
        return [self.activation(self.norm(self.conv(x))) for x in planes]


class ResidualBlock(nn.Module):

    def __init__(self, options, channels, size):
        super().__init__()
        self.convolution_1 = Block(options, channels, channels, size)
        self.convolution_2 = Block(options, channels, channels, size,
                                   activation=False)

    def forward(self, planes):
        changes = self.convolution_2(self.convolution_1(planes))
        return [functional.leaky_relu(change + x, SLOPE)
                for change, x in zip(changes, planes)]


class Series(nn.Module):
    """Blocks that keep the number of channels."""

    def __init__(self, options, channels, count, size):
        super().__init__()
        if options["residual"]:
            blocks = [ResidualBlock(options, channels, size)
                      for _ in range(count)]
        else:
            blocks = [Block(options, channels, channels, size)
                      for _ in range(count)]
        self.blocks = nn.Sequential(*blocks)

    def forward(self, planes):
        return self.blocks(planes)


class MaxPoolDown(nn.Module):

    def __init__(self, options, channels, deeper):
        super().__init__()
        self.bottleneck = Block(options, channels, deeper, 1)

    def forward(self, planes):
        return self.bottleneck([functional.max_pool2d(x, 2) for x in planes])


class InterpolateUp(nn.Module):

    def __init__(self, options, deeper, channels):
        super().__init__()
        self.bottleneck = Block(options, deeper, channels, 1)

    def forward(self, planes):
        return self.bottleneck([
            functional.interpolate(x, scale_factor=2, mode="bilinear",
                                   align_corners=False) for x in planes])


class Connection(nn.Module):
    """Where a skip connection joins."""

    def __init__(self, options, channels):
        super().__init__()
        self.kind = options["connections"]
        if self.kind == "concat":
            self.bottleneck = Block(options, 2 * channels, channels, 1)

    def forward(self, planes, skips):
        if self.kind == "concat":
            return self.bottleneck([torch.cat(pair, 1)
                                    for pair in zip(planes, skips)])
        if self.kind == "sum":
            return [x + skip for x, skip in zip(planes, skips)]
        return planes


class Deepest(nn.Module):
    """Where planes meet, unless network.block_concat keeps them apart."""

    def __init__(self, options, channels):
        super().__init__()
        self.planes_meet = not options["block_concat"]
        outside = PLANES * channels if self.planes_meet else channels
        inside = options["bottleneck_deepest"]
        self.bottleneck = Block(options, outside, inside, 1)
        self.blocks = Series(options, inside, options["blocks_deepest_layer"],
                             options["filter_size_deepest"])
        self.unbottleneck = Block(options, inside, outside, 1)

    def forward(self, planes):
        tensors = len(planes)
        if self.planes_meet:
            planes = [torch.cat(torch.cat(planes).chunk(PLANES), 1)]
        planes = self.unbottleneck(self.blocks(self.bottleneck(planes)))
        if self.planes_meet:
            planes = torch.cat(planes[0].chunk(PLANES, 1)).chunk(tensors)
        return planes


class Bottom(nn.Module):
    """Only there because the reference's names have one more level."""

    def __init__(self, options, channels):
        super().__init__()
        self.main_module = Deepest(options, channels)

    def forward(self, planes):
        return self.main_module(planes)


class Level(nn.Module):
    """One level of the U with all that is below it."""

    def __init__(self, options, depth):
        super().__init__()
        channels = channels_at(options, depth)
        deeper = channels_at(options, depth + 1)
        count = options["blocks_per_layer"]
        self.down_blocks = Series(options, channels, count, 3)
        if options["downsampling"] == "convolutional":
            self.downsample = Block(options, channels, deeper, 2, 2)
        else:
            self.downsample = MaxPoolDown(options, channels, deeper)
        if depth + 1 < options["depth"]:
            self.main_module = Level(options, depth + 1)
        else:
            self.main_module = Bottom(options, deeper)
        if options["upsampling"] == "convolutional":
            self.upsample = Block(options, deeper, channels, 2, 2,
                                  transposed=True)
        else:
            self.upsample = InterpolateUp(options, deeper, channels)
        self.up_blocks = Series(options, channels, count, 3)
        self.connection = Connection(options, channels)

    def forward(self, planes):
        skips = planes
        planes = self.downsample(self.down_blocks(planes))
        planes = self.upsample(self.main_module(planes))
        return self.up_blocks(self.connection(planes, skips))


class UResNet(nn.Module):
    """Image [batch, planes, rows, columns] to logits of each plane.

    Logits are three tensors [batch, classes, rows, columns].
    """

    def __init__(self, options):
        super().__init__()
        filters = options["n_initial_filters"]
        self.together = options["plane_statistics"] == "shared"
        self.initial_convolution = Block(options, 1, filters, 5)
        self.net_core = (Level(options, 0) if options["depth"] > 0
                         else Bottom(options, filters))
        self.final_layer = Series(options, filters, options["blocks_final"],
                                  3)
        self.bottleneck = nn.Conv2d(filters, CLASSES, 1, bias=options["bias"])

    def forward(self, image):
        planes = image.chunk(PLANES, 1)
        if self.together:
            planes = [torch.cat(planes)]
        planes = self.net_core(self.initial_convolution(planes))
        planes = [self.bottleneck(x) for x in self.final_layer(planes)]
        return planes[0].chunk(PLANES) if self.together else planes
