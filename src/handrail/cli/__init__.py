"""The command line: a door like any other. Heavy modules are imported by the command that needs them."""
