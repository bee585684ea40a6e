"""What a person is asked, bound to exactly one act: the digest of action, device and screen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from handrail.engine.policy.verdict import Span
from handrail.protocol.act import Act
from handrail.protocol.observe import Capability

Purpose = Literal["policy", "human_auth"]
Redact = Callable[[str], str]
"""Puts placeholders where a text says a secret."""
TIMEOUT_MS = 300_000
MASKED = "••••"

PLAIN: frozenset[Capability] = frozenset(
    {"camera", "location", "notification", "contacts", "calendar", "files", "permission"}
)
"""Capabilities whose data may be stored. Those of all others are secrets, `unknown` included."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question. Make it with `Request.of`."""

    kind: Purpose
    action: Mapping[str, Any]
    digest: str
    device: str
    fingerprint: str
    instruction: str
    """What the person is asked to do or to allow."""
    reason: str = ""
    """What the agent says it wants this for."""
    why: str = ""
    """Why policy asks."""
    capability: Capability = "unknown"
    label: str = ""
    screenshot: str | None = None
    """Name of the blob with the marked picture."""
    door: str = ""
    asked_by: str = ""
    remember: Span = "never"
    """How long the answer may count, at most."""
    timeout_ms: int = TIMEOUT_MS

    @classmethod
    def of(
        cls,
        action: Act,
        *,
        device: str,
        fingerprint: str,
        instruction: str,
        kind: Purpose = "policy",
        password: bool = False,
        **more: Any,
    ) -> Request:
        """`password`: the action types into a password field, so its text is neither shown nor stored."""
        shown = action.to_dict()
        if password and "text" in shown:
            shown["text"] = MASKED
        digest = digest_of(action, device, fingerprint, password=password)
        return cls(kind, shown, digest, device, fingerprint, instruction, **more)

    def redacted(self, redact: Redact) -> Request:
        """As it may be stored; the digest stays that of the act itself."""
        return replace(
            self,
            action=json.loads(redact(json.dumps(dict(self.action), ensure_ascii=False))),
            instruction=redact(self.instruction),
            reason=redact(self.reason),
            why=redact(self.why),
            label=redact(self.label),
        )

    @property
    def is_secret(self) -> bool:
        """Whatever is answered with this is kept out of the store."""
        return self.capability not in PLAIN


def digest_of(action: Act, device: str, fingerprint: str, *, password: bool = False) -> str:
    """SHA-256 of the exact action on this device and screen; a short password behind it costs a slow hash."""
    bound = json.dumps([action.to_dict(), device, fingerprint], sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(bound.encode())
    if password:
        slow = hashlib.scrypt(digest.digest(), salt=fingerprint.encode() + b"/handrail", n=2**14, r=8, p=1)
        return hashlib.sha256(slow).hexdigest()
    return digest.hexdigest()
