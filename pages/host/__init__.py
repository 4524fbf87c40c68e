"""The server as a host: who a visitor is, what each may take, and what is said of it."""
