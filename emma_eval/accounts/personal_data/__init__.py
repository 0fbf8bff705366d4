"""What the site keeps about one person: handed out to them, and taken away for good."""
