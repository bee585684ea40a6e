"""What is on the display: windows and the system's own views, how they move, and how they are dumped."""
