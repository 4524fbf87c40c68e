"""The dashboard. Start it with ``make app``."""

from pages.shell import main

# Worker processes import this file again: they must not draw a page.
if __name__ == "__main__":
    main()
