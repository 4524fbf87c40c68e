"""Linear structural equation models: encodings, Gram matrices, acyclicity, optimisers."""
