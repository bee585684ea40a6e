"""Action formats of public data sets: AitW, AndroidControl, AndroidWorld."""
