"""Seed 000: OpenPocket's model step and its ten actions, with its normalisation and its defaults."""

from handrail.dialects.openpocket.normalise import SHAPES, Normalised, normalise, write_action
from handrail.dialects.openpocket.step import MAX_CHARS, ModelStep, find_action, parse_step, unwrap

__all__ = [
    "MAX_CHARS",
    "SHAPES",
    "ModelStep",
    "Normalised",
    "find_action",
    "normalise",
    "parse_step",
    "unwrap",
    "write_action",
]
