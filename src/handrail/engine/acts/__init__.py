"""TODO acts."""
