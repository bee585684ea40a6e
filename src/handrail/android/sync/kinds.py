"""The frameworks that are told apart, in the order in which they win when an app shows signs of several."""

from __future__ import annotations

from typing import Literal

Framework = Literal["flutter", "react_native", "compose", "native"]
PRIORITY: tuple[Framework, ...] = ("flutter", "react_native", "compose")
"""An app with none of their signs is native."""
Metro = tuple[str, int]
METRO: Metro = ("127.0.0.1", 8081)
"""Where React Native's bundler listens unless it was told otherwise; the port is the same on the phone."""
