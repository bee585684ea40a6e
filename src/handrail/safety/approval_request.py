"""What a person is asked: the request, its wording, its picture, and what a grant would cover."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from handrail.journal.redaction import Redact, redact_data
from handrail.protocol.act import Act
from handrail.protocol.device import TypeText
from handrail.protocol.observe import HumanCapability
from handrail.protocol.sentence import question_of
from handrail.protocol.system import RunScript
from handrail.protocol.traits import Pressed, Span
from handrail.safety.labels import lookalike_forms
from handrail.safety.subject import Subject, TouchedElement
from handrail.screen.text import clean, cut
from handrail.surface.picture import opened

_PARTS = (
    "passw|passphrase|pass ?code|pass ?key|credential|authent|verifica|one[ -]?time|digits|iban",
    "security question|maiden name|social security|seed phrase|(?:recovery|seed) words",
    "(?:api|private|recovery|access|security|license|licence)[ -]?key",
    "card (?:no|num)|credit card|debit card|expir(?:y|ation) date",
    "secre|segret",
    "kennwort|geheim|zugangsdaten|verifiz|einmal|kreditkarte|kartennummer",
    "wachtwoord|losenord|salasana|mot de passe|carte bancaire|numero de (?:carte|tar)",
    "contrasena|senha|parola|haslo|heslo|jelszo|sifre",
    "парол|секрет",
    "कोड|पासवर्ड|पिन",
    "كلمة (?:المرور|السر)|رمز",
    "パスワード|暗証|認証|コード",
    "密码|密碼|验证码|驗證碼|口令",
    "비밀번호|암호|인증",
)
"""Parts of words, since some languages join words; without accents."""
_ENDS = (
    "(?:code|kode|codice|codigo|код|kod|kodu|koodi)(?:s|n|d|i|e|a|y|ow)?",
    "(?:token|pin|puk|tan)s?",
    "(?:log|sign)(?:ging|ning)?[ -]?(?:in|on)",
)
_FULL_WORDS = "otp|totp|2fa|mfa|cvv|cvc|csc|ssn|nip|clave"
_SECRET = re.compile(rf"{'|'.join(_PARTS)}|(?:{'|'.join(_ENDS)})\b|\b(?:{_FULL_WORDS})\b")


def asks_for_a_secret(*texts: str) -> bool:
    """Recognises words that are written with lookalike letters too."""
    return any(_SECRET.search(likeness) for text in texts for likeness in lookalike_forms(text.casefold()))


_DIGITS = re.compile(r"(?<!\d)\d(?:[ .-]?\d){3,9}(?!\d)")
_DECIMAL = re.compile(r"(?<![\d.])\d{1,3}\.(?!\d{3}(?!\d))\d+(?![\d.])")
"""A place on the map, a measure. Three digits, a point and three digits may be a code."""
_SIGNS = re.compile(r"[^\w\s.,:;/'()-]")


def looks_like_a_secret(answer: Any) -> bool:
    """Codes, keys, passwords and ids: 4 to 10 digits, one word of mixed characters, words of the list."""
    if isinstance(answer, Mapping):
        return any(looks_like_a_secret(part) for part in answer.values())
    if isinstance(answer, list | tuple):
        return any(looks_like_a_secret(part) for part in answer)
    if answer is None or isinstance(answer, bool | float):  # a place on the map; a code is an int or a text
        return False
    text = str(answer).strip()
    if _DIGITS.search(_DECIMAL.sub("", text)) or asks_for_a_secret(text):
        return True
    if len(text) < 4 or re.search(r"\s", text):
        return False
    letters, digits = re.search(r"[^\W\d_]", text), re.search(r"\d", text)
    return bool((letters and digits) or _SIGNS.search(text) or re.search(r"[a-z][A-Z]", text))


LONGEST = 240
"""Characters of a command or an address in a question."""


def question(subject: Subject, volatile: Iterable[str] = ()) -> str:
    """`Allow tap 'Pay now' in com.handrail.shop?`, `Allow shell: rm -rf /sdcard/x?`

    `volatile` is what changes by itself beside it, with the value for which a yes counts.
    """
    kind = subject.action.type
    limit = 0 if isinstance(subject.action, RunScript) else LONGEST  # a person reads a script to its end
    content = cut(clean(question_of(subject.action)), limit)
    words = f"Allow {kind}: {content}?" if content else f"Allow {_what(subject)}?"
    ticking = ", ".join(f"{number}. {cut(text, 60)!r}" for number, text in enumerate(volatile, 1))
    return f"{words} Only while this, which changes by itself, is shown: {ticking}" if ticking else words


def _what(subject: Subject) -> str:
    kind = subject.action.type
    what = f"{kind} {subject.label!r}" if subject.label else kind
    place = next((f"{element.place} in " for element in subject.touched or () if element.place), "")
    return f"{what} in {place}{subject.package or 'this device'}"


def types_password(subject: Subject) -> bool:
    """The text is neither shown nor stored, so no grant can cover it."""
    touched = subject.touched or ()
    return isinstance(subject.action, TypeText) and any(element.password for element in touched)


@dataclass(frozen=True, slots=True)
class GrantScope:
    """A class of actions that a grant covers. `key` identifies it; `sentence` is the text for people."""

    key: str = ""
    sentence: str = ""

    @classmethod
    def of(cls, subject: Subject) -> GrantScope | None:
        """The same action on the same element of the same app; None if the element has no name.

        Texts are compared letter by letter: a lookalike is another class.
        """
        action, touched = subject.action, subject.touched or ()
        if types_password(subject):
            return None
        if action.presses in (Pressed.NOTHING, Pressed.UNKNOWN):
            about: list[Any] = [subject.context]
            sentence = f"{subject.type}: {cut(clean(subject.context), LONGEST)}"
        elif touched and all(element.label or element.id for element in touched):
            about = [_exactly(element) for element in touched]
            sentence = cut(clean(_what(subject)), LONGEST)
        else:
            return None  # an element without a name
        bound = json.dumps([subject.type, subject.package, about], separators=(",", ":"))
        return cls(hashlib.sha256(bound.encode("utf-8", "backslashreplace")).hexdigest(), sentence)


NO_SCOPE = GrantScope()
"""No grant can be given."""


def _exactly(element: TouchedElement) -> list[Any]:
    texts = [list(element.says), list(element.around)]
    return [element.package, element.place, element.label, element.id, element.role, *texts]


ANSWERED_WITH_DATA: frozenset[HumanCapability] = frozenset(
    ("2fa", "sms", "oauth", "location", "contacts", "calendar", "files", "unknown")
)
"""Capabilities whose answer is text. A payment or a fingerprint happens on the phone: yes or no."""
Purpose = Literal["policy", "human_auth"]
TIMEOUT_MS = 300_000
MASKED = "••••"
PLAIN: frozenset[HumanCapability] = frozenset(
    {"camera", "location", "notification", "contacts", "calendar", "files", "permission", "unknown"}
)
"""Capabilities that do not by themselves make an answer secret."""


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """One question to a person; `of` creates it."""

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
    door: str = ""
    asked_by: str = ""
    """The name that the asker gives, which proves nothing."""
    asker: str = ""
    """The session or token that asks. Nobody else may use the answer."""
    scope: GrantScope = NO_SCOPE
    """What a grant would cover."""
    remember: Span = "never"
    """How long the answer may count at most."""
    timeout_ms: int = TIMEOUT_MS
    volatile: Mapping[str, str] = field(default_factory=dict)
    """Elements beside it that change by themselves: key → text. A yes ends when one changes, unless the
    person lets it."""

    @property
    def wants_data(self) -> bool:
        """Whether a yes can bring data, such as a code."""
        return self.kind == "human_auth" and self.capability in ANSWERED_WITH_DATA

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
    ) -> AuthorizationRequest:
        """`password`: the action types into a password field, so its text is masked."""
        shown = action.to_dict()
        if password and "text" in shown:
            shown["text"] = MASKED
        digest = digest_of(action, device, fingerprint, password=password)
        return cls(kind, shown, digest, device, fingerprint, instruction, **more)

    def redacted(self, redact: Redact) -> AuthorizationRequest:
        """Returns what may be stored. The digest stays that of the unredacted action."""
        return replace(
            self,
            action=redact_data(dict(self.action), redact),
            instruction=redact(self.instruction),
            reason=redact(self.reason),
            why=redact(self.why),
            label=redact(self.label),
            scope=replace(self.scope, sentence=redact(self.scope.sentence)),
            volatile={key: redact(text) for key, text in self.volatile.items()},
        )

    def shown(self, limit: int) -> str:
        """The instruction on one line; a script is shown in full."""
        return cut(clean(self.instruction), 0 if "script" in self.action else limit)

    @property
    def may_allow(self) -> str:
        """The text of what a grant would cover; '' if the rule permits no grant."""
        return self.scope.sentence if self.remember != "never" else ""

    @property
    def is_secret(self) -> bool:
        """Whether the switch "the agent may read this" starts off, by what the agent says.

        Who must not read the answer words the question, so a capability can only turn the switch off.
        """
        return self.capability not in PLAIN or asks_for_a_secret(self.instruction, self.reason)


def digest_of(action: Act, device: str, fingerprint: str, *, password: bool = False) -> str:
    """SHA-256 of the exact action on this device and screen. A password gets a slow hash against guessing."""
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
    """Frames `bounds` and crops around them. Keeps the full screen if they are not visible."""
    from PIL import ImageDraw  # noqa: PLC0415  (few actions ask anybody)

    with opened(png) as opened_png:
        picture = opened_png.convert("RGB")
    frame = _grow(bounds, 0, picture.size) if bounds else (0, 0, 0, 0)
    if frame[0] < frame[2] and frame[1] < frame[3]:
        width = max(4, picture.width // 180)
        ImageDraw.Draw(picture).rectangle(_grow(frame, width, picture.size), outline=_RED, width=width)
        picture = picture.crop(_grow(frame, _AROUND, picture.size))
    picture.thumbnail((_WIDEST, picture.height))  # only ever smaller
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


Box = tuple[int, int, int, int]


def _grow(box: Box, by: int, size: tuple[int, int]) -> Box:
    return max(0, box[0] - by), max(0, box[1] - by), min(size[0], box[2] + by), min(size[1], box[3] + by)
