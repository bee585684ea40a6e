"""TODO look."""
