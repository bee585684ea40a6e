"""Evaluation: tasks on disk, a fresh simulated phone for each, a model at work, and what the state says."""

__version__ = "0.2.0"
