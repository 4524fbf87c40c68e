"""CPDAGs, and the similarity of a learned one to the true one."""
