"""Actions that are more than one touch, read or call: loops over a surface, each with its own proof."""
