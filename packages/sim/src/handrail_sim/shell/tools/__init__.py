"""The toybox side of the shell: files, text, processes."""
