"""A browser as a surface: started or attached, its tabs, one look over all frames, mouse and keys."""
