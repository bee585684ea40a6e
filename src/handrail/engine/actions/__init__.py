"""Actions that take more than one gesture, read or call. Each verifies its own result."""
