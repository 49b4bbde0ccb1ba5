"""The back end on one machine, for development and tests. Never deployed, never safe to
deploy: the pool signs with a key that lies in a file, and there is no TLS."""
