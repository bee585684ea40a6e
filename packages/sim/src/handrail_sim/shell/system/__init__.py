"""The Android side of the shell: input, packages, activities, settings, logs."""
