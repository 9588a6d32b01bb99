"""CosmicTagger's U-ResNet in plain PyTorch, the planes a volume's depth.

Modules have the reference's names, so that weights load by name. Kernels stay
within a plane, except those that let the planes meet in the deepest block.
"""
import torch
from torch import nn
from torch.nn import functional

PLANES = 3
CLASSES = 3
SLOPE = 0.01
RELU = 0.0


def channels_at(options, level):
    """Channels at a level of the U, 0 (full resolution) to depth."""
    if options["growth_rate"] == "multiplicative":
        return options["n_initial_filters"] * 2**level
    return options["n_initial_filters"] * (level + 1)


class Block(nn.Module):
    """Convolution, batch norm if there is any, activation."""

    def __init__(self, options, channels, filters, size, stride=1,
                 transposed=False, across_planes=False, slope=SLOPE):
        super().__init__()
        kind = nn.ConvTranspose3d if transposed else nn.Conv3d
        kernel, pad = (1, size, size), (0, (size - 1) // 2, (size - 1) // 2)
        if across_planes:
            kernel, pad = (PLANES, 1, 1), (1, 0, 0)
        self.conv = kind(channels, filters, kernel, (1, stride, stride), pad,
                         bias=options["bias"])
        self.norm = nn.Identity()
        self.activation = (nn.Identity() if slope is None
                           else nn.LeakyReLU(slope))
        if options["normalization"] == "batch":
            self.norm = nn.BatchNorm3d(filters)
            if options["bias"]:
                # The norm cancels it. Its gradient is rounding noise, which
                # Adam would turn into steps as large as the learning rate.
                self.conv.bias.requires_grad_(False)

    def forward(self, x):
        return self.activation(self.norm(self.conv(x)))


class ResidualBlock(nn.Module):

    def __init__(self, options, channels, size):
        super().__init__()
        self.convolution_1 = Block(options, channels, channels, size)
        self.convolution_2 = Block(options, channels, channels, size,
                                   slope=None)

    def forward(self, x):
        change = self.convolution_2(self.convolution_1(x))
        return functional.leaky_relu(change + x, SLOPE)


class Series(nn.Module):
    """Blocks that keep the number of channels."""

    def __init__(self, options, channels, count, size):
        super().__init__()
        for i in range(count):
            block = (ResidualBlock(options, channels, size)
                     if options["residual"]
                     else Block(options, channels, channels, size))
            self.add_module(f"block_{i}", block)

    def forward(self, x):
        for block in self.children():
            x = block(x)
        return x


class MaxPoolDown(nn.Module):

    def __init__(self, options, channels, deeper):
        super().__init__()
        self.bottleneck = Block(options, channels, deeper, 1)

    def forward(self, x):
        return self.bottleneck(functional.max_pool3d(x, (1, 2, 2)))


class InterpolateUp(nn.Module):

    def __init__(self, options, deeper, channels):
        super().__init__()
        self.bottleneck = Block(options, deeper, channels, 1)

    def forward(self, x):
        return self.bottleneck(
            functional.interpolate(x, scale_factor=(1, 2, 2), mode="nearest"))


class Connection(nn.Module):
    """Where a skip connection joins."""

    def __init__(self, options, channels):
        super().__init__()
        self.kind = options["connections"]
        if self.kind == "concat":
            self.bottleneck = Block(options, 2 * channels, channels, 1)

    def forward(self, x, skip):
        if self.kind == "concat":
            return self.bottleneck(torch.cat((x, skip), 1))
        if self.kind == "sum":
            return x + skip
        return x


class Deepest(nn.Module):
    """Where the planes meet."""

    def __init__(self, options, channels):
        super().__init__()
        inside = options["bottleneck_deepest"]
        self.merger = Block(options, channels, inside, 1, across_planes=True)
        self.blocks = Series(options, inside, options["blocks_deepest_layer"],
                             options["filter_size_deepest"])
        self.splitter = Block(options, inside, channels, 1,
                              across_planes=True)

    def forward(self, x):
        return self.splitter(self.blocks(self.merger(x)))


class Bottom(nn.Module):
    """Only there because the reference's names have one more level."""

    def __init__(self, options, channels):
        super().__init__()
        self.main_module = Deepest(options, channels)

    def forward(self, x):
        return self.main_module(x)


class Level(nn.Module):
    """One level of the U with all that is below it."""

    def __init__(self, options, depth):
        super().__init__()
        channels = channels_at(options, depth)
        deeper = channels_at(options, depth + 1)
        count = options["blocks_per_layer"]
        self.down_blocks = Series(options, channels, count, 3)
        if options["downsampling"] == "convolutional":
            self.downsample = Block(options, channels, deeper, 2, 2,
                                    slope=RELU)
        else:
            self.downsample = MaxPoolDown(options, channels, deeper)
        if depth + 1 < options["depth"]:
            self.main_module = Level(options, depth + 1)
        else:
            self.main_module = Bottom(options, deeper)
        if options["upsampling"] == "convolutional":
            self.upsample = Block(options, deeper, channels, 2, 2,
                                  transposed=True, slope=RELU)
        else:
            self.upsample = InterpolateUp(options, deeper, channels)
        self.up_blocks = Series(options, channels, count, 3)
        self.connection = Connection(options, channels)

    def forward(self, x):
        # In 3D the skip connection leaves after the down series and joins
        # after the up series.
        skip = self.down_blocks(x)
        x = self.upsample(self.main_module(self.downsample(skip)))
        return self.connection(self.up_blocks(x), skip)


class UResNet(nn.Module):
    """Image [batch, planes, rows, columns] to logits of each plane.

    Logits are three tensors [batch, classes, rows, columns].
    """

    def __init__(self, options):
        super().__init__()
        filters = options["n_initial_filters"]
        self.initial_convolution = Block(options, 1, filters, 5)
        self.net_core = (Level(options, 0) if options["depth"] > 0
                         else Bottom(options, filters))
        self.final_layer = Series(options, filters, options["blocks_final"],
                                  3)
        self.bottleneck = nn.Conv3d(filters, CLASSES, 1, bias=options["bias"])

    def forward(self, image):
        x = self.net_core(self.initial_convolution(image.unsqueeze(1)))
        x = self.bottleneck(self.final_layer(x))
        return [plane.squeeze(2) for plane in x.chunk(PLANES, 2)]
