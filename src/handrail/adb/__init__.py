"""The ADB protocol: packets, connections, shell, files, and the adb server."""
