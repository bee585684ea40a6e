"""The ADB protocol: what the client of phones and the simulated phone have in common."""
