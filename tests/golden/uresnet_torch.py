"""CosmicTagger's U-ResNet, 2D and 3D, in plain PyTorch: the second opinion for tests and benchmarks.

Module names follow the reference, so that state dictionaries and golden files load by name. Losses, metrics and
optimisers are those of the reference with its bugs repaired: the loss scheme `none` is the mean cross entropy, and
`even` accepts a batch without one of the classes.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

# Every network option with its default; the names and the order are those of the reference's configuration.
DEFAULTS = dict(name="default", bias=True, normalization="batch", n_initial_filters=16, blocks_per_layer=2,
                blocks_deepest_layer=5, blocks_final=5, depth=6, filter_size_deepest=5, bottleneck_deepest=256,
                residual=True, block_concat=False, weight_decay=0.1, connections="concat", conv_mode="conv_2D",
                growth_rate="additive", downsampling="max_pooling", upsampling="interpolation",
                data_format="channels_first")

PRESETS = {
    "uresnet": dict(name="uresnet"),
    "a21": dict(name="A21", n_initial_filters=8, residual=False, connections="sum", blocks_final=0),
    "polaris": dict(name="polaris", residual=False, connections="sum", blocks_deepest_layer=2, blocks_final=2,
                    depth=7, bottleneck_deepest=96),
    "scc21": dict(name="scc21", normalization="none"),
    "uresnet3d": dict(name="uresnet3d", conv_mode="conv_3D"),
}


class Options(dict):
    """Network options, readable as attributes."""

    __getattr__ = dict.__getitem__

    @property
    def three_d(self):
        return self["conv_mode"] == "conv_3D"


def options(preset=None, **changes):
    """The defaults, changed by a preset and then by single options."""
    unknown = set(changes) - set(DEFAULTS)
    if unknown or preset is not None and preset not in PRESETS:
        raise ValueError(f"unknown network option or preset: {sorted(unknown) or preset}")
    return Options({**DEFAULTS, **PRESETS.get(preset, {}), **changes})


class Block(nn.Module):
    """Convolution, normalisation, activation. In 3D a kernel k acts inside a plane: (1, k, k)."""

    def __init__(self, o, cin, cout, kernel=1, stride=1, slope=0.01, transpose=False, across_planes=False):
        super().__init__()
        pad = (kernel - 1) // 2
        if o.three_d:
            kind = nn.ConvTranspose3d if transpose else nn.Conv3d
            if across_planes:
                size, step, pad = (kernel, 1, 1), 1, (pad, 0, 0)
            else:
                size, step, pad = (1, kernel, kernel), (1, stride, stride), (0, pad, pad)
        else:
            kind, size, step = nn.ConvTranspose2d if transpose else nn.Conv2d, kernel, stride
        self.conv = kind(cin, cout, size, step, pad, bias=o.bias)
        norm = nn.BatchNorm3d if o.three_d else nn.BatchNorm2d
        self.norm = norm(cout) if o.normalization == "batch" else nn.Identity()
        self.slope = slope  # 1: no activation

    def forward(self, x):
        y = self.norm(self.conv(x))
        return y if self.slope == 1 else F.leaky_relu(y, self.slope)


class Residual(nn.Module):
    def __init__(self, o, c, kernel):
        super().__init__()
        self.convolution_1 = Block(o, c, c, kernel)
        self.convolution_2 = Block(o, c, c, kernel, slope=1)

    def forward(self, x):
        return F.leaky_relu(self.convolution_2(self.convolution_1(x)) + x)


class Series(nn.Module):
    """Blocks one after the other; the reference names them differently in 2D and 3D."""

    def __init__(self, o, c, count, kernel=3):
        super().__init__()
        steps = [Residual(o, c, kernel) if o.residual else Block(o, c, c, kernel) for _ in range(count)]
        if o.three_d:
            for i, step in enumerate(steps):
                self.add_module(f"block_{i}", step)
        else:
            self.blocks = nn.ModuleList(steps)

    def forward(self, x):
        for step in self.blocks if hasattr(self, "blocks") else self.children():
            x = step(x)
        return x


class Resample(nn.Module):
    """Max pooling or interpolation by two, then a 1x1 block."""

    def __init__(self, o, cin, cout, up):
        super().__init__()
        self.up, self.three_d, self.bottleneck = up, o.three_d, Block(o, cin, cout)

    def forward(self, x):
        if self.three_d:
            x = F.interpolate(x, scale_factor=(1, 2, 2)) if self.up else F.max_pool3d(x, (1, 2, 2))
        elif self.up:
            x = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        else:
            x = F.max_pool2d(x, 2)
        return self.bottleneck(x)


def resample(o, cin, cout, up):
    if (o.upsampling if up else o.downsampling) == "convolutional":
        # The reference's 3D modules use ReLU here, and only here.
        return Block(o, cin, cout, 2, 2, slope=0.0 if o.three_d else 0.01, transpose=up)
    return Resample(o, cin, cout, up)


class Concat(nn.Module):
    def __init__(self, o, c):
        super().__init__()
        self.bottleneck = Block(o, 2 * c, c)

    def forward(self, x, skip):
        return self.bottleneck(torch.cat((x, skip), 1))


class Deepest2D(nn.Module):
    """The only place where the planes meet, unless block_concat (which means: do not concatenate) is set."""

    def __init__(self, o, c):
        super().__init__()
        self.merge = not o.block_concat
        wide, narrow = (3 * c if self.merge else c), o.bottleneck_deepest
        self.bottleneck = Block(o, wide, narrow)
        self.blocks = Series(o, narrow, o.blocks_deepest_layer, o.filter_size_deepest)
        self.unbottleneck = Block(o, narrow, wide)

    def forward(self, planes):
        if self.merge:
            planes = [torch.cat(planes, 1)]
        planes = [self.unbottleneck(self.blocks(self.bottleneck(x))) for x in planes]
        return torch.chunk(planes[0], 3, 1) if self.merge else planes


class Deepest3D(nn.Module):
    def __init__(self, o, c):
        super().__init__()
        narrow = o.bottleneck_deepest
        self.merger = Block(o, c, narrow, 3, across_planes=True)
        self.blocks = Series(o, narrow, o.blocks_deepest_layer, o.filter_size_deepest)
        self.splitter = Block(o, narrow, c, 3, across_planes=True)

    def forward(self, volumes):
        return [self.splitter(self.blocks(self.merger(x))) for x in volumes]


class Level(nn.Module):
    """One level of the U and everything below it, on a list of tensors: three planes in 2D, one volume in 3D.

    2D takes the skip tensor before the down series and connects before the up series; 3D does both after them.
    """

    def __init__(self, o, c, depth):
        super().__init__()
        self.depth, self.three_d, self.connections = depth, o.three_d, o.connections
        if depth == 0:
            self.main_module = Deepest3D(o, c) if o.three_d else Deepest2D(o, c)
            return
        deeper = 2 * c if o.growth_rate == "multiplicative" else c + o.n_initial_filters
        self.down_blocks = Series(o, c, o.blocks_per_layer)
        self.downsample = resample(o, c, deeper, up=False)
        self.main_module = Level(o, deeper, depth - 1)
        self.upsample = resample(o, deeper, c, up=True)
        self.up_blocks = Series(o, c, o.blocks_per_layer)
        if o.connections == "concat":
            self.connection = Concat(o, c)

    def connect(self, x, skip):
        if self.connections == "none":
            return x
        return x + skip if self.connections == "sum" else self.connection(x, skip)

    def forward(self, tensors):
        if self.depth == 0:
            return self.main_module(tensors)
        skips, deeper = [], []
        for x in tensors:
            down = self.down_blocks(x)
            skips.append(down if self.three_d else x)
            deeper.append(self.downsample(down))
        del tensors, x, down  # a tensor that nobody needs must not count in the peak memory of a benchmark
        up = [self.upsample(x) for x in self.main_module(deeper)]
        if self.three_d:
            return [self.connect(self.up_blocks(x), s) for x, s in zip(up, skips)]
        return [self.up_blocks(self.connect(x, s)) for x, s in zip(up, skips)]


class UResNet(nn.Module):
    """Image [B,3,H,W] to three logit tensors [B,3,H,W], one per plane."""

    def __init__(self, o):
        super().__init__()
        f = o.n_initial_filters
        self.three_d = o.three_d
        self.initial_convolution = Block(o, 1, f, 5)
        self.net_core = Level(o, f, o.depth)
        self.final_layer = Series(o, f, o.blocks_final)
        self.bottleneck = (nn.Conv3d if o.three_d else nn.Conv2d)(f, 3, 1, bias=o.bias)
        for m in self.modules():  # 3D and transposed convolutions keep the framework's default, as in the reference
            if isinstance(m, nn.Conv2d):
                nn.init.xavier_uniform_(m.weight)
                if m.bias is not None:
                    nn.init.zeros_(m.bias)

    def forward(self, image):
        tensors = [image[:, None]] if self.three_d else torch.chunk(image, 3, 1)
        tensors = self.net_core([self.initial_convolution(x) for x in tensors])
        logits = [self.bottleneck(self.final_layer(x)) for x in tensors]
        return list(logits[0].unbind(2)) if self.three_d else logits


def loss_of(logits, labels, scheme):
    """Sum over planes of the weighted mean cross entropy; the weights carry no gradient."""
    total = 0.0
    for z, y in zip(logits, labels):
        ce = F.cross_entropy(z, y, reduction="none")
        with torch.no_grad():
            if scheme == "focal":
                w = (1 - torch.softmax(z, 1).gather(1, y[:, None])[:, 0]) ** 2
            elif scheme == "light":
                w = torch.tensor([1.0, 1.5, 10.0], dtype=z.dtype, device=z.device)[y]
            elif scheme == "even":
                w = (0.3333 / (torch.bincount(y.flatten(), minlength=3) + 1.0)).to(z.dtype)[y]
            elif scheme == "none":
                w = torch.ones_like(ce)
            else:
                raise ValueError(f"unknown loss scheme {scheme}")
        total = total + (w * ce).sum() / w.sum()
    return total


def metrics_of(logits, labels):
    """Accuracies and intersections over unions by name; `Average` is the exact mean over the planes."""
    keys = ("Total_Accuracy", "Cosmic_IoU", "Neutrino_IoU", "Non_Bkg_Accuracy", "mIoU")
    count = lambda mask: mask.flatten(1).sum(1).float()
    result = {}
    for p, (z, y) in enumerate(zip(logits, labels)):
        guess = z.argmax(1)

        def iou(c):
            both, either = count((guess == c) & (y == c)), count((guess == c) | (y == c))
            return float(torch.where(either > 0, both / either, torch.ones_like(both)).mean())

        seen = y != 0
        cosmic, neutrino = iou(1), iou(2)
        values = (float((guess == y).float().mean()), cosmic, neutrino,
                  float((count(seen & (guess == y)) / count(seen)).mean()), 0.5 * (cosmic + neutrino))
        result.update({f"plane{p}/{k}": v for k, v in zip(keys, values)})
    result.update({f"Average/{k}": sum(result[f"plane{p}/{k}"] for p in range(3)) / 3 for k in keys})
    return result


def optimizer_of(name, net, learning_rate):
    return {"adam": lambda p: torch.optim.Adam(p, learning_rate),
            "rmsprop": lambda p: torch.optim.RMSprop(p, learning_rate, eps=1e-4),
            "sgd": lambda p: torch.optim.SGD(p, learning_rate, momentum=0.9)}[name](net.parameters())
