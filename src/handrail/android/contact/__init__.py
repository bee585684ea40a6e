"""First contact with a phone, and finding it again: cables, wireless debugging, phones known by name."""
