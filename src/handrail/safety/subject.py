"""What policy decides about: one action, what it would touch, who sends it, from where and when."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit

from handrail.errors import ActionRejected
from handrail.journal.redaction import PLACEHOLDER
from handrail.protocol.act import SHARED_FIELDS
from handrail.protocol.actions import AnyAction
from handrail.protocol.device import TypeText
from handrail.protocol.observe import QueryDb
from handrail.protocol.system import (
    AddMedia,
    GrantPermission,
    InstallApp,
    OpenUrl,
    RevokePermission,
    RunScript,
    Shell,
    StartApp,
)
from handrail.protocol.traits import Effect, Pressed, Semantic, Span, VerdictKind
from handrail.safety.caller import Door
from handrail.safety.labels import is_answer
from handrail.screen.node import Node, Screen, receiver, touchable
from handrail.screen.pictures import drawn_beside, picture_around
from handrail.screen.text import clean, name_of, own_label

CallerOrigin = Literal["local", "remote"]
_SECRETS = re.compile(r"\s*(?:\$\{secret:[^}]+\}\s*)+")
_CONTEXT = 200  # characters of a remembered context that are kept as they are


@dataclass(frozen=True, slots=True)
class Subject:
    """One action as policy sees it. `touched` is None until the screen was read."""

    action: AnyAction
    touched: tuple[TouchedElement, ...] | None
    device: str
    door: Door
    caller: CallerOrigin
    at: datetime
    known_hosts: frozenset[str] = frozenset()
    """Hosts and origins that were allowed before."""
    bound: frozenset[str] = frozenset()
    """Names, in capitals, of the secrets that `[secrets]` binds to apps."""

    @classmethod
    def of(
        cls,
        action: AnyAction,
        *,
        resolved: TouchedElement | Sequence[TouchedElement] | None,
        at_ms: int,
        device: str = "",
        door: Door = "python",
        caller: CallerOrigin = "local",
        known_hosts: frozenset[str] = frozenset(),
    ) -> Subject:
        """`resolved` is None before the screen is read, which only `early` accepts.

        A drag touches two elements. Without a target it is `TouchedElement(package=…)`, the app in front.
        """
        touched = (
            (resolved,)
            if isinstance(resolved, TouchedElement)
            else None
            if resolved is None
            else tuple(resolved)
        )
        if touched is not None:
            touched = tuple(element.pressed_by(action) for element in touched)
        local_time = datetime.fromtimestamp(at_ms / 1000).astimezone()
        return cls(action, touched, device, door, caller, local_time, known_hosts)

    @property
    def type(self) -> str:
        return self.action.type

    @property
    def effect(self) -> Effect:
        return self.action.effect

    @property
    def semantic(self) -> Semantic:
        return self.action.semantic

    @property
    def named_package(self) -> str:
        """The app that the action itself names; '' for an action on the app in front."""
        return getattr(self.action, "package", None) or ""

    @property
    def package(self) -> str:
        return self.named_package or (self.touched[0].package if self.touched else "")

    @property
    def label(self) -> str:
        return self.touched[0].label if self.touched else ""

    @property
    def has_secret(self) -> bool:
        """The text consists of placeholders, which are filled at dispatch, and of nothing else."""
        return isinstance(self.action, TypeText) and _SECRETS.fullmatch(self.action.text) is not None

    @property
    def secrets(self) -> list[str]:
        """Names of the secrets that the action would fill in, in capitals."""
        names = PLACEHOLDER.findall(self.action.model_dump_json(exclude={"reason"}))
        return list(dict.fromkeys(name.upper() for name in names))

    @property
    def places(self) -> list[str]:
        """Addresses of the pages that it leads to or touches. An installed app has a package name instead."""
        traits = self.action.traits
        if traits.leaves_app and self.named_package:
            return [self.named_package] if ":" in self.named_package else []
        if self.action.presses is Pressed.NOTHING:
            return []
        # An empty page without an origin has no elements.
        wheres = (element.where for element in self.touched or () if element.role or "://" in element.where)
        return list(dict.fromkeys(element for element in wheres if ":" in element))

    @property
    def new_places(self) -> list[str]:
        """Addresses that nobody has allowed yet."""
        hosts = self.known_hosts
        return [place for place in self.places if place not in hosts and host_of(place) not in hosts]

    @property
    def url_host(self) -> str:
        """The host of an `open_url`, `tel:` and the like for other schemes, '' for a misleading address."""
        return host_of(self.action.url) if isinstance(self.action, OpenUrl) else ""

    @property
    def url_origin(self) -> str:
        return origin_of(self.action.url) if isinstance(self.action, OpenUrl) else ""

    @property
    def may_be_remembered(self) -> bool:
        """An `intent:` address can name any part of any app, so no answer about one counts again."""
        if not isinstance(self.action, OpenUrl):
            return True
        return self.action.url.strip().lower().partition(":")[0] not in ("intent", "android-app")

    @property
    def script_hash(self) -> str:
        """SHA-256 of a script's exact text, as `sha256sum` prints it; '' for other actions."""
        return f"sha256:{_sha256(self.action.script)}" if isinstance(self.action, RunScript) else ""

    @property
    def context(self) -> str:
        """What a remembered answer covers besides the type. Never empty, so none covers a whole type."""
        text = self._context()
        if len(text) <= _CONTEXT:
            return text
        return f"{text[:_CONTEXT]}… {_digest(text)}"

    def _context(self) -> str:
        own = _own_context(self.action)
        if own or self.named_package:
            return own or self.named_package
        if self.touched and any(element.label or element.id for element in self.touched):
            names = [" · ".join((f"{at.where}/{at.label or at.id}", *at.around)) for at in self.touched]
            return " → ".join(names)  # a yes to an "OK" is a yes to what it answers
        exact = self.action.model_dump_json(exclude=set(SHARED_FIELDS), exclude_none=True)
        return f"{self.package}/{_digest(exact)}"


def _own_context(action: AnyAction) -> str:
    """What the action's own fields say; '' where the app or the element says it."""
    match action:
        case OpenUrl():  # of another scheme the host says nothing: `tel:` is every number
            return action.url if host_of(action.url).endswith(":") else host_of(action.url) or action.url
        case StartApp() if action.opens_a_part:
            extras = json.dumps(action.extras, sort_keys=True) if action.extras else ""
            return f"{action.package or action.name}/{action.activity or ''}{extras}"
        case Shell():
            return action.command if isinstance(action.command, str) else shlex.join(action.command)
        case InstallApp() | AddMedia():
            return action.path
        case GrantPermission() | RevokePermission():
            return f"{action.package}/{action.permission}"
        case RunScript():
            return _digest(action.script)
        case QueryDb():
            return f"{action.package}/{action.database}: {action.query}"
    return ""


def host_of(url: str) -> str:
    """The host as every parser reads it; '' for URLs that parsers read differently (`\\`, `user@`)."""
    scheme, _, rest = url.partition(":")
    if scheme.lower() not in ("http", "https"):
        return f"{scheme.lower()}:"
    if not rest.startswith("//") or re.search(r"[\\\x00-\x20]", url):
        return ""
    try:
        parts = urlsplit(url)
        host = "" if "@" in parts.netloc else (parts.hostname or "")
    except ValueError:
        return ""
    return host.rstrip(".") if re.fullmatch(r"[A-Za-z0-9.:-]+", host) else ""


def origin_of(url: str) -> str:
    """Scheme, host and port of a web address; '' for other addresses."""
    if not (host := host_of(url)) or host.endswith(":"):
        return ""
    parts = urlsplit(url)
    standard = {"http": 80, "https": 443}[parts.scheme]
    shown = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port not in (None, standard) else ""
    return f"{parts.scheme}://{shown}{port}".lower()


def _digest(text: str) -> str:
    return f"sha256:{_sha256(text)[:32]}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


_MOST_TEXTS = 8  # inside one element; a touchable box with more is a page, not a button
_AROUND = 600  # characters; what is longer is a page
_LABEL = 40  # characters; what is longer is no label


@dataclass(frozen=True, slots=True)
class TouchedElement:
    """One element on a screen. With `package` alone it stands for the app in front."""

    package: str = ""
    label: str = ""
    place: str = ""
    """The address of the web page around it."""
    says: tuple[str, ...] = ()
    """Its other texts: description, tooltip, the texts inside."""
    around: tuple[str, ...] = ()
    """Of an "OK" and its like: the texts around it, which it answers."""
    id: str = ""
    role: str = ""
    password: bool = False
    is_drawn: bool = False
    """It was read from a picture, which tells no buttons from other texts."""
    pressed: bool | None = None
    """Whether a finger or a key presses it; None: as the action's traits say."""

    @classmethod
    def of(
        cls,
        screen: Screen,
        node: Node,
        label_of: Callable[[Node], str] | None = None,
        pressed: bool | None = None,
    ) -> TouchedElement:
        """A touch on `node` reaches its receiver, which is what counts."""
        touched = receiver(node) or node
        label = label_of(touched) if label_of else ""
        key = (cls, node.order, label)
        if key not in screen.memo:
            screen.memo[key] = cls._read(screen, node, touched, label)
        element: TouchedElement = screen.memo[key]
        return element if pressed is None else replace(element, pressed=pressed)

    @classmethod
    def _read(cls, screen: Screen, node: Node, touched: Node, label: str) -> TouchedElement:
        if receiver(node) is None:  # a box without touch handling is not the elements inside it
            label = label or own_label(node)[0]
            texts = list(_own_texts(node))
        else:
            label = label or name_of(touched) or name_of(node)
            texts = [*_own_texts(touched), *_own_texts(node)]
            if len(inside := list(_plain_texts(screen, touched))) <= _MOST_TEXTS:
                texts += inside
        drawn = list(_drawn_texts(touched))
        if touched.drawn is not None:
            texts += [text for other in drawn_beside(touched) for text in _own_texts(other)]
        elif node.drawn is None:  # a place in a picture: what it presses may be drawn as any of its texts
            texts += drawn
        says = dict.fromkeys(text for text in texts if text != label)
        asks = receiver(node) is not None and node.role != "text_field"
        return cls(
            package=touched.package_name or screen.package,
            label=label,
            place=touched.place,
            says=tuple(says),
            # Pressing it may answer the text around it, as "OK" does. A field is only filled.
            around=_asked_by(screen, touched, drawn, asks) if is_answer(label) else (),
            id=touched.resource_id or node.resource_id,
            role=touched.role,
            password=touched.password or node.password,
            is_drawn=touched.drawn is not None,
        )

    @property
    def where(self) -> str:
        """The page, else the app, that it belongs to."""
        return self.place or self.package

    def pressed_by(self, action: AnyAction) -> TouchedElement:
        """With `pressed` decided. A field that is only typed into gets the focus and is not pressed."""
        is_field = action.only_types and self.role == "text_field"
        named = action.presses is not Pressed.NOTHING and self.pressed is not False
        pressed = named and not is_field and bool(self.pressed or self.label or self.id)
        return self if self.pressed is pressed else replace(self, pressed=pressed)

    @property
    def id_tail(self) -> str:
        return self.id.rpartition(":id/")[2]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.label, *self.says, *self.around)


def _plain_texts(screen: Screen, box: Node, until: Node | None = None) -> Iterator[str]:
    """The texts in a box, without those of touchable elements and lists in it."""
    skipped = 0
    for each in screen.inside(box):
        if until is not None and each.order >= until.order:
            return
        if each.order < skipped:
            continue
        if (touchable(each) or each.scrollable) and not _is_prose(each):
            skipped = each.end
        else:
            yield from _own_texts(each)


def _is_prose(node: Node) -> bool:
    """A text that takes touches for its links, or a field that nobody can write into: no button's label."""
    if node.role == "text_field":
        return _is_locked(node)
    words, is_text = node.masked_text, node.role == "text_view" and not node.children
    return is_text and (len(words) > _LABEL or words.endswith(("?", "？", "؟")))


def _is_locked(field: Node) -> bool:
    return not field.enabled or "read-only" in field.state_description


def _own_texts(node: Node) -> Iterator[str]:
    """The content of a field is not its name: a letter with "pay" in it is not a payment."""
    own = "" if node.role == "text_field" and not _is_locked(node) else node.masked_text
    hidden = clean(node.text) if node.password else ""
    for text in (own, node.description, node.hint_text, node.tooltip_text):
        if (cleaned := clean(text)) and cleaned != hidden:
            yield cleaned


def _drawn_texts(node: Node) -> Iterator[str]:
    """All texts of the picture that a node is drawn in, or holds: it does not tell what answers what."""
    picture = picture_around(node)
    stack = list(picture.children) if picture is not None else []
    while stack:
        part = stack.pop()
        if part.drawn is not None:
            yield from _own_texts(part)
            stack += part.children


def _asked_by(screen: Screen, touched: Node, drawn: list[str], asks: bool) -> tuple[str, ...]:
    if drawn:
        return tuple(drawn)
    return _around(screen, touched) if asks else ()


def _around(screen: Screen, touched: Node) -> tuple[str, ...]:
    """The texts outwards from it until there is a page; of a page alone, the end of what stands before it."""
    around = list[str]()
    for box in touched.ancestors():
        texts = list(_plain_texts(screen, box))
        if sum(map(len, texts)) > _AROUND:
            before = " · ".join(_plain_texts(screen, box, until=touched))[-_AROUND:]
            return tuple(around or filter(None, [before]))
        around = texts
    return tuple(around)


SPANS: tuple[Span, ...] = ("never", "time", "session", "always")


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """What policy says. `rule` names the rule of the file, or the built-in case, that decided."""

    kind: VerdictKind
    rule: str
    why: str = ""
    remember: Span = "never"
    policy: str = ""
    """The digest of the policy file, or "defaults"."""
    about: tuple[str, str] | None = None
    """Action type and context that an answer is remembered for, if not those of the action itself."""

    def rejection(self) -> ActionRejected:
        why = f": {self.why}" if self.why else ""
        return ActionRejected(
            f"{self.rule} denies it{why}",
            hint="Choose another way; only the person who owns the policy can change it.",
            rule=self.rule,
            why=self.why,
        )
