"""Looking: fresh screens and their refs, targets on them, whether something holds, when a screen rests."""
