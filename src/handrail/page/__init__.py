"""A web page as Nodes: the script that reads it, its rows, their mapping. Knows no transport and no tab."""
