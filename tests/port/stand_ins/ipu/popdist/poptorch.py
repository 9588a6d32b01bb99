import poptorch


class Options(poptorch.Options):
    def __init__(self, ipus_per_replica=None):
        super().__init__()
