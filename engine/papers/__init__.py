"""The papers reproduced: their tables and figures, with our numbers beside."""
