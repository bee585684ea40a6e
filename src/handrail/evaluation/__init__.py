"""Evaluation: tasks on disk, a fresh simulated phone for each, a model at work, and what the state says."""
