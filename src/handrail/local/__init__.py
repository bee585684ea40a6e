"""The door on this machine: commands use the session of a Handrail that already runs for the same home."""
