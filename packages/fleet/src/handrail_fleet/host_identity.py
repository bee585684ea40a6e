"""Which host is speaking: it shows its journal's key once, and its calls then have a word that only it knows.

All hosts share the token that lets them in. It does not let one of them speak in another's name.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable

from handrail.errors import ActionRejected, Timeout
from handrail.journal.signed_note import BadNote, Note, SigningKey, VerifierKey

FIRST_LINE = "handrail fleet hello v1"
MOST_WORDS = 1_000
"""That were given out and not signed yet; the oldest is forgotten first."""


def signed_hello(key: SigningKey, name: str, incarnation: str, word: str) -> str:
    """By the key of the host's journal, over the head's word: an old one can't be used again."""
    return str(Note.signed(_text(name, incarnation, word), key))


def _text(name: str, incarnation: str, word: str) -> str:
    told = {"name": name, "incarnation": incarnation, "word": word}
    return f"{FIRST_LINE}\n{json.dumps(told, sort_keys=True)}\n"


class HostIdentities:
    """The head's side. `on_known` is told of the process of a host that was just believed."""

    def __init__(self, on_known: Callable[[str, str], None]) -> None:
        self._on_known = on_known
        self._words: dict[str, None] = {}
        self._known: dict[str, str] = {}

    def challenge(self) -> str:
        """Good for one hello."""
        word = secrets.token_hex(16)
        self._words[word] = None
        while len(self._words) > MOST_WORDS:
            del self._words[next(iter(self._words))]
        return word

    def check_hello(self, name: str, incarnation: str, key: str, word: str, proof: str) -> None:
        """Raises `ActionRejected` unless whoever says hello has the key that it tells; `Timeout` where the
        head does not know its word any more."""
        if word not in self._words:
            raise Timeout("this hello is an old one", hint="Ask for a new word, and sign that.")
        del self._words[word]
        try:
            note = Note.parse(proof)
            note.check([VerifierKey.parse(key)])
        except (BadNote, ValueError) as error:
            raise ActionRejected(
                f"{name!r:.60} did not sign its hello: {error}", hint="It was not admitted."
            ) from None
        if note.text != _text(name, incarnation, word):
            raise ActionRejected("this hello was signed for another host", hint="It was not admitted.")

    def believe(self, name: str, incarnation: str) -> None:
        """The ledger has it so."""
        self._known[name] = incarnation
        self._on_known(name, incarnation)

    def is_known(self, name: str, incarnation: str) -> bool:
        known = self._known.get(name)
        return known is not None and hmac.compare_digest(known.encode(), incarnation.encode())

    def forget(self, name: str) -> None:
        self._known.pop(name, None)
