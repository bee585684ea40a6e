"""The DevTools protocol as bytes and calls: wires, a connection, its sessions. Knows no page, no screen."""
