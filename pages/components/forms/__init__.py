"""Fields that fill a draft."""
