"""The phone's virtual disk: nodes, permissions, contents held once per process, apps' own files."""
