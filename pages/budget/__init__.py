"""CURATE's plan and the accounting behind it."""
