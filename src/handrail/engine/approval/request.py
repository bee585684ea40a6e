"""What a person is asked, bound to exactly one act: the digest of action, device and screen."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from handrail.engine.approval.secret_words import asks_for_a_secret
from handrail.engine.approval.wording import NOTHING, Scope
from handrail.engine.secrets import Redact, redact_data
from handrail.protocol.act import Act
from handrail.protocol.observe import HumanCapability
from handrail.protocol.traits import Span
from handrail.surface.picture import opened

GIVEN: frozenset[HumanCapability] = frozenset(
    ("2fa", "sms", "oauth", "location", "contacts", "calendar", "files", "unknown")
)
"""What a person can type. A payment or a fingerprint is given on the phone: there the answer is yes or no."""
Purpose = Literal["policy", "human_auth"]
TIMEOUT_MS = 300_000
MASKED = "••••"

PLAIN: frozenset[HumanCapability] = frozenset(
    {"camera", "location", "notification", "contacts", "calendar", "files", "permission"}
)
"""Capabilities whose data may be stored and read. The rest is secret; for `unknown` the question decides."""


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
    capability: HumanCapability = "unknown"
    label: str = ""
    screenshot: str | None = None
    """Name of the blob with the marked picture."""
    door: str = ""
    asked_by: str = ""
    """The name that the asker goes by, which proves nothing."""
    asker: str = ""
    """The session or token behind it: nobody else may use the answer."""
    scope: Scope = NOTHING
    """What a person may allow for a time along with it; empty where that can't be said exactly."""
    remember: Span = "never"
    """How long the answer may count, at most."""
    timeout_ms: int = TIMEOUT_MS

    @property
    def wants_data(self) -> bool:
        """Whether something can be given with a yes, such as a code. A payment is allowed or not."""
        return self.kind == "human_auth" and self.capability in GIVEN

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
            action=redact_data(dict(self.action), redact),
            instruction=redact(self.instruction),
            reason=redact(self.reason),
            why=redact(self.why),
            label=redact(self.label),
            scope=replace(self.scope, said=redact(self.scope.said)),
        )

    @property
    def may_allow(self) -> str:
        """The class of acts that a person may allow for a time, in words; '' where the rule lets nobody."""
        return self.scope.said if self.remember != "never" else ""

    @property
    def is_secret(self) -> bool:
        """Whatever is answered with this is kept out of the store and from the model."""
        if self.capability == "unknown":
            return asks_for_a_secret(self.instruction, self.reason)
        return self.capability not in PLAIN


def digest_of(action: Act, device: str, fingerprint: str, *, password: bool = False) -> str:
    """SHA-256 of the exact action on this device and screen; a short password behind it costs a slow hash."""
    bound = json.dumps([action.to_dict(), device, fingerprint], sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(bound.encode())
    if password:
        slow = hashlib.scrypt(digest.digest(), salt=fingerprint.encode() + b"/handrail", n=2**14, r=8, p=1)
        return hashlib.sha256(slow).hexdigest()
    return digest.hexdigest()


_RED = (220, 38, 38)
_AROUND = 320  # device pixels left and right of, above and below the element
_WIDEST = 720  # pixels of the result


def mark_screenshot(png: bytes, bounds: tuple[int, int, int, int] | None) -> bytes:
    """`bounds` is left, top, right, bottom; without any visible part of them the whole screen is shown."""
    from PIL import ImageDraw  # noqa: PLC0415  (few actions ask anybody)

    with opened(png) as whole:
        picture = whole.convert("RGB")
    frame = _clip(bounds, picture.size) if bounds else None
    if frame is not None:
        width = max(4, picture.width // 180)
        ImageDraw.Draw(picture).rectangle(_grow(frame, width, picture.size), outline=_RED, width=width)
        picture = picture.crop(_grow(frame, _AROUND, picture.size))
    picture.thumbnail((_WIDEST, picture.height))  # only ever smaller
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


Box = tuple[int, int, int, int]


def _clip(bounds: Box, size: tuple[int, int]) -> Box | None:
    left, top = max(0, bounds[0]), max(0, bounds[1])
    right, bottom = min(size[0], bounds[2]), min(size[1], bounds[3])
    return (left, top, right, bottom) if left < right and top < bottom else None


def _grow(box: Box, by: int, size: tuple[int, int]) -> Box:
    return max(0, box[0] - by), max(0, box[1] - by), min(size[0], box[2] + by), min(size[1], box[3] + by)
