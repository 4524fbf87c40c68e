"""Differential privacy: events, accounting, the ledger, and the mechanisms that draw noise."""
