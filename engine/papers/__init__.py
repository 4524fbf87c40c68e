"""The papers reproduced: their tables and figures, compared with our numbers."""
