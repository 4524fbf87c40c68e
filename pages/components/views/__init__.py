"""Parts of pages: what a result looks like."""
