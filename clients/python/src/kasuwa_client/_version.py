"""The version of the client. It is that of the service it was generated from."""

__version__ = "1.0.0"
