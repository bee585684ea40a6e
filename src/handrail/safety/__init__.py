"""Who may do what on a device, who is asked, and which texts may leave it."""
