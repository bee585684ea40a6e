"""What strangers can check: hash trees, signed notes, checkpoints, witnesses, in their public formats."""
