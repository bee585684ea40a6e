"""A model that works on a phone: it is shown the screen, chooses one action at a time, and is held to bounds."""
