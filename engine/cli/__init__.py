"""The command line: ``engine`` and its subcommands."""
