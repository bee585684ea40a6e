"""The HTTP door: the desk for browsers, REST and WebSocket for programs."""
