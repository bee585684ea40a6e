"""Text that arrives: several ways into a field, each honest about what it can't, and a look afterwards."""
