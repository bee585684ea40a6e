"""Why a script is not run. Not an error of the program: the executor turns it into a result with evidence."""

from __future__ import annotations

HINT = "Use plain commands of the allowed list, joined by ; && || or |."


class Refusal(Exception):
    """What the script wanted, and what to do instead."""

    def __init__(self, what: str, hint: str = HINT) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
