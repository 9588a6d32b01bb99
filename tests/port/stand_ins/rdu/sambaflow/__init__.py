"""A stand-in for SambaFlow: a copy of the model is the device."""
__version__ = "stand-in"
