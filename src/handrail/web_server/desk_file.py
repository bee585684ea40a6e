"""`config/desk.json`: the desk's address and its secrets, for its owner's other programs. Mode 0600."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handrail.bind import tls_context_trusting

if TYPE_CHECKING:
    import ssl

SHOWN = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "localhost": "127.0.0.1"}  # noqa: S104  (not bound to)
"""Numbers, because `localhost` may lead a browser to another process, on the other loopback."""


@dataclass(frozen=True, slots=True)
class DeskFile:
    """What `handrail serve` writes and `handrail desk` reads."""

    address: str
    token: str
    """Lets a program act."""
    key: str
    """The owner's: allows what a person may do."""
    certificate: str = ""
    """The PEM file of a desk with TLS: its owner's programs trust this one and no other."""

    @classmethod
    def renew(
        cls, path: Path, host: str, port: int, token: str | None, certificate: Path | None = None
    ) -> DeskFile:
        """Secrets outlive restarts, so programs that have them go on working."""
        old = _read_fields(path)
        shown = SHOWN.get(host, f"[{host}]" if ":" in host and not host.startswith("[") else host)
        return cls(
            f"{'https' if certificate else 'http'}://{shown}:{port}",
            token or old.get("token") or secrets.token_urlsafe(32),
            old.get("key") or secrets.token_urlsafe(32),
            str(certificate.absolute()) if certificate else "",
        )

    @classmethod
    def read(cls, path: Path) -> DeskFile | None:
        """Returns None where no desk was ever served."""
        fields = _read_fields(path)
        if not all(fields.get(name) for name in ("address", "token", "key")):
            return None
        return cls(fields["address"], fields["token"], fields["key"], fields.get("certificate", ""))

    @property
    def tls(self) -> ssl.SSLContext | None:
        """Returns None where the desk speaks plain HTTP on this machine."""
        return tls_context_trusting(Path(self.certificate)) if self.certificate else None

    def write(self, path: Path) -> None:
        """Atomically, and readable by its owner only from the first byte on."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.unlink(missing_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(self), file, indent=2)
        draft.replace(path)


def _read_fields(path: Path) -> dict[str, Any]:
    """Empty for a file that others may read or that is broken, so that new secrets are made."""
    try:
        if path.stat().st_mode & 0o077:
            return {}
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    fields = content if isinstance(content, dict) else {}
    return {name: text for name, text in fields.items() if isinstance(text, str) and len(text) >= 8}
