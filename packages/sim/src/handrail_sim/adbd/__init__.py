"""The ADB side of the phone: connections, streams, services, files in and out, ports."""
