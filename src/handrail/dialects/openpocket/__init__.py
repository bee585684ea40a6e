"""Seed 000: OpenPocket's model step and its ten actions, with its normalisation and its defaults."""

from handrail.dialects.openpocket.normalise import SHAPES, Normalised, normalise, write_action
from handrail.dialects.openpocket.step import ModelStep, parse_step

__all__ = ["SHAPES", "ModelStep", "Normalised", "normalise", "parse_step", "write_action"]
