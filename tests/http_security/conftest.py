"""A desk behind a real port, as the tests of the web server have it."""

from tests.unit.web_server.conftest import served

__all__ = ["served"]
