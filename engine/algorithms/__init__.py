"""One file an algorithm; they share ``common`` and never import each other."""
