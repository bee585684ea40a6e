"""What computer tools, WebDriver and other phone servers say, read into Handrail's actions and back."""
