"""What a session remembers: settings, data, runs, studies."""
