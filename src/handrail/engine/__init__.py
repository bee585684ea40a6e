"""The life of one action: permitted, resolved, dispatched once, observed, verified, journalled."""
