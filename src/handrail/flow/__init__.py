"""Flows: many steps in one file, run on a session, with a trace that explains itself."""
