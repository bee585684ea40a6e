"""A web page as nodes: the script that reads it and the mapping of its rows."""
