"""The English of results, made once for pages, command line and files."""
