"""A browser as a surface: started or attached to, its tabs, mouse and keys."""
