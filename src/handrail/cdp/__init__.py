"""The Chrome DevTools Protocol: messages, calls, sessions and events."""
