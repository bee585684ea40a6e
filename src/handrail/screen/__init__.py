"""Pure screen algebra: text in, values out. Knows no device, no socket, no clock."""
