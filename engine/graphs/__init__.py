"""CPDAGs, and how close a learned one is to the true one."""
