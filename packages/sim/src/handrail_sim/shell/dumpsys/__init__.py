"""`dumpsys`: what system services say about themselves, one file per service or family of services."""
