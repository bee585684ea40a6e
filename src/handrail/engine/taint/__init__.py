"""What a device was told in secret is told to nobody else: every read of it passes here."""
