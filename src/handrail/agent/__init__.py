"""A model that works on a phone: shown the screen, it chooses one action at a time, within bounds."""
