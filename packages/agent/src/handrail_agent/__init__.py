"""A model that works on a phone: shown the screen, it chooses one action at a time, within bounds."""

__version__ = "0.2.0"
