"""What a budget will buy."""
