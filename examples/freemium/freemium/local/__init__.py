"""The back end on one machine, for development and tests. Never deploy it: the pool signs with a
key in a file, and there is no TLS."""
