"""Outputs of real phones against what the product reads out of them."""
