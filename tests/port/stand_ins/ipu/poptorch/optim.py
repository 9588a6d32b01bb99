import torch


class AdamW(torch.optim.AdamW):
    def __init__(self, params, lr=None, betas=None, eps=None, weight_decay=None, bias_correction=None, loss_scaling=None,
                 accum_type=None, first_order_momentum_accum_type=None, second_order_momentum_accum_type=None):
        assert bias_correction
        super().__init__(params, lr, betas, eps, weight_decay)


class RMSprop(torch.optim.RMSprop):
    def __init__(self, params, lr=None, alpha=None, eps=None, weight_decay=0, momentum=0, centered=False):
        super().__init__(params, lr, alpha, eps)


class SGD(torch.optim.SGD):
    def __init__(self, params, lr, momentum=None, dampening=None, weight_decay=0, nesterov=False, use_combined_accum=None):
        super().__init__(params, lr, momentum)
