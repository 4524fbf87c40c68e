"""One file per algorithm; they share ``common`` and never import each other."""
