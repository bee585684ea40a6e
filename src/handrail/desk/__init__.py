"""The web desktop: one authoritative state, a pure reducer, many screens that follow it."""
