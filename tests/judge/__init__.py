"""A judge of refs written apart from `handrail.tree`: it reads dumps itself and has few rules of its own."""
