"""From fingers and keys to meaning: gestures, touch, keys, text in fields, the on-screen keyboard."""
