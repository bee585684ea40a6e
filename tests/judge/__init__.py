"""A judge of refs that shares no code with `handrail.screen`: it reads dumps itself and has few rules."""
