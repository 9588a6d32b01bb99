class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.997), eps=1e-8, weight_decay=0.0):
        self.betas, self.eps, self.weight_decay = betas, eps, weight_decay
