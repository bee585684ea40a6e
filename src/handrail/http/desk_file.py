"""`config/desk.json`: where the desk is and what opens it, for its owner's other programs. Mode 0600."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handrail.bind import trusting

if TYPE_CHECKING:
    import ssl

SHOWN = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "localhost": "127.0.0.1"}  # noqa: S104  (not bound to)
"""Addresses are told as numbers: `localhost` may lead a browser to another process, on the other loopback."""


@dataclass(frozen=True, slots=True)
class DeskFile:
    """What `serve` leaves and `handrail desk` finds."""

    address: str
    token: str
    """Lets a program act."""
    key: str
    """The owner's: lets do what a person may."""
    certificate: str = ""
    """The PEM file of a desk that speaks TLS: its owner's programs trust this one and no other."""

    @classmethod
    def renew(
        cls, path: Path, host: str, port: int, token: str | None, certificate: Path | None = None
    ) -> DeskFile:
        """Secrets last over restarts: programs that were given them need not be told again."""
        known = _known(path)
        shown = SHOWN.get(host, f"[{host}]" if ":" in host and not host.startswith("[") else host)
        return cls(
            f"{'https' if certificate else 'http'}://{shown}:{port}",
            token or known.get("token") or secrets.token_urlsafe(32),
            known.get("key") or secrets.token_urlsafe(32),
            str(certificate.absolute()) if certificate else "",
        )

    @classmethod
    def read(cls, path: Path) -> DeskFile | None:
        """None where no desk was ever served."""
        known = _known(path)
        names = ("address", "token", "key")
        if not all(known.get(name) for name in names):
            return None
        return cls(known["address"], known["token"], known["key"], known.get("certificate", ""))

    @property
    def tls(self) -> ssl.SSLContext | None:
        """How the owner's programs know this desk; None where it speaks plain HTTP on this machine."""
        return trusting(Path(self.certificate)) if self.certificate else None

    def write(self, path: Path) -> None:
        """In one step, and readable by its owner only from the first byte on."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.unlink(missing_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(self), file, indent=2)
        draft.replace(path)


def _known(path: Path) -> dict[str, Any]:
    """A file that others may read or that is broken counts for nothing: new secrets are made."""
    try:
        if path.stat().st_mode & 0o077:
            return {}
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    found = read if isinstance(read, dict) else {}
    return {name: value for name, value in found.items() if isinstance(value, str) and len(value) >= 8}
