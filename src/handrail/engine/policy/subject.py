"""What a rule looks at: one action, what it would touch, and who sends it from where and when."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit

from handrail.engine.redaction import PLACEHOLDER
from handrail.errors import ActionRejected
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
)
from handrail.protocol.traits import Effect, Pressed, Semantic, Span, VerdictKind
from handrail.tree.element.labels import own_label
from handrail.tree.mention import name_of, receiver, touchable
from handrail.tree.node import Node, Screen
from handrail.tree.quote import clean

Door = Literal["python", "cli", "mcp", "http", "ws", "flow", "agent", "desk"]
Caller = Literal["local", "remote"]

_SECRETS = re.compile(r"\s*(?:\$\{secret:[^}]+\}\s*)+")
_CONTEXT = 200  # characters of a remembered context that are kept as they are


@dataclass(frozen=True, slots=True)
class Subject:
    """One act as policy sees it. `touched` is None until the screen was read."""

    action: AnyAction
    touched: tuple[Resolved, ...] | None
    device: str
    door: Door
    caller: Caller
    at: datetime
    known_hosts: frozenset[str] = frozenset()
    """Hosts, and whole origins that were allowed before."""
    bound: frozenset[str] = frozenset()
    """Secrets, by name in capitals, that say themselves where they may go."""

    @classmethod
    def of(
        cls,
        action: AnyAction,
        *,
        resolved: Resolved | Sequence[Resolved] | None,
        at_ms: int,
        device: str = "",
        door: Door = "python",
        caller: Caller = "local",
        known_hosts: frozenset[str] = frozenset(),
    ) -> Subject:
        """`resolved` has no default, so that nobody forgets it: None is "not yet", and only `early` takes it.

        A drag touches two elements; an action that aims at nothing gets `Resolved(package=…)`, the app in
        front.
        """
        touched = (
            (resolved,) if isinstance(resolved, Resolved) else None if resolved is None else tuple(resolved)
        )
        if touched is not None:
            touched = tuple(one.pressed_by(action) for one in touched)
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
        """The app that the action itself names; '' where the app in front counts."""
        return getattr(self.action, "package", None) or ""

    @property
    def package(self) -> str:
        return self.named_package or (self.touched[0].package if self.touched else "")

    @property
    def label(self) -> str:
        return self.touched[0].label if self.touched else ""

    @property
    def has_secret(self) -> bool:
        """Its text is a placeholder that is filled at dispatch; plain text beside one stays plain."""
        return isinstance(self.action, TypeText) and _SECRETS.fullmatch(self.action.text) is not None

    @property
    def secrets(self) -> list[str]:
        """The names of those that the action would fill in, in capitals."""
        found = PLACEHOLDER.findall(self.action.model_dump_json(exclude={"reason"}))
        return list(dict.fromkeys(name.upper() for name in found))

    @property
    def places(self) -> list[str]:
        """Apps that are named by an address, unlike installed ones: where it leads, or what it touches."""
        traits = self.action.traits
        if traits.leaves_app and self.named_package:
            return [self.named_package] if ":" in self.named_package else []
        if self.action.presses is Pressed.NOTHING:
            return []
        # An empty page without an origin has no elements.
        found = (one.where for one in self.touched or () if one.role or "://" in one.where)
        return list(dict.fromkeys(one for one in found if ":" in one))

    @property
    def new_places(self) -> list[str]:
        """Those that nobody has allowed yet."""
        known = self.known_hosts
        return [one for one in self.places if one not in known and host_of(one) not in known]

    @property
    def url_host(self) -> str:
        """The web host of an open_url, `tel:` for other schemes, '' for what is none or could mislead."""
        return host_of(self.action.url) if isinstance(self.action, OpenUrl) else ""

    @property
    def url_origin(self) -> str:
        return origin_of(self.action.url) if isinstance(self.action, OpenUrl) else ""

    @property
    def context(self) -> str:
        """What a remembered answer is about, besides the type. Never empty: no answer covers a whole type."""
        text = self._context()
        if len(text) <= _CONTEXT:
            return text
        return f"{text[:_CONTEXT]}… {_digest(text)}"

    def _context(self) -> str:
        own = _own_context(self.action)
        if own or self.named_package:
            return own or self.named_package
        if self.touched and any(one.label or one.id for one in self.touched):
            return " → ".join(f"{one.where}/{one.label or one.id}" for one in self.touched)
        exact = self.action.model_dump_json(exclude={"reason", "device", "expect"}, exclude_none=True)
        return f"{self.package}/{_digest(exact)}"


def _own_context(action: AnyAction) -> str:
    """What the action's own fields say it is about; '' where an app or an element does."""
    match action:
        case OpenUrl():
            return host_of(action.url) or action.url
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
    """The host, as every reader of this URL would see it; '' where readers differ (`\\`, `user@`)."""
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
    """Scheme, host and port of a web address, as an app is named by it; '' for others."""
    if not (host := host_of(url)) or host.endswith(":"):
        return ""
    parts = urlsplit(url)
    standard = {"http": 80, "https": 443}[parts.scheme]
    shown = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port not in (None, standard) else ""
    return f"{parts.scheme}://{shown}{port}".lower()


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'backslashreplace')).hexdigest()[:32]}"


_MOST_TEXTS = 8  # inside one element; a touchable box that says more is a page, not a button
_AROUND = 600  # characters; a box that says more is a page, not what a button belongs to


@dataclass(frozen=True, slots=True)
class Resolved:
    """One element; with only `package` it stands for the app in front, where nothing is aimed at."""

    package: str = ""
    label: str = ""
    """What a person calls it."""
    place: str = ""
    """The address of the page that it is a part of, in an app that shows pages."""
    says: tuple[str, ...] = ()
    """Whatever else it says: description, tooltip, the texts inside."""
    around: tuple[str, ...] = ()
    """The texts of the smallest box around it that has any: what "OK" is an answer to."""
    id: str = ""
    role: str = ""
    password: bool = False
    pressed: bool | None = None
    """Whether a finger or a key comes down on it; None: as the action's traits say."""

    @classmethod
    def of(
        cls,
        screen: Screen,
        node: Node,
        label_of: Callable[[Node], str] | None = None,
        pressed: bool | None = None,
    ) -> Resolved:
        """`node` as it was found; what a touch on it reaches is what counts."""
        touched = receiver(node) or node
        label = label_of(touched) if label_of else ""
        if receiver(node) is None:  # a box that takes no touches is not what stands somewhere in it
            label = label or own_label(node)[0]
            texts = _said(node)
        else:
            label = label or name_of(touched) or name_of(node)
            texts = _texts(screen, touched, node)
        says = dict.fromkeys(text for text in texts if text != label)
        return cls(
            package=touched.package_name or screen.package,
            label=label,
            place=touched.place,
            says=tuple(says),
            around=tuple(_around(screen, touched)) if _answers(node) else (),
            id=touched.resource_id or node.resource_id,
            role=touched.role,
            password=touched.password or node.password,
            pressed=pressed,
        )

    @property
    def where(self) -> str:
        """Whose it is in the narrowest sense: a page's, else an app's."""
        return self.place or self.package

    def pressed_by(self, action: AnyAction) -> Resolved:
        """With `pressed` told. A field that is only typed into gets the focus: nothing in it is pressed."""
        is_field = action.only_types and self.role == "text_field"
        named = action.presses is not Pressed.NOTHING and self.pressed is not False
        pressed = named and not is_field and bool(self.pressed or self.label or self.id)
        return self if self.pressed is pressed else replace(self, pressed=pressed)

    @property
    def id_tail(self) -> str:
        return self.id.rpartition(":id/")[2]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.label, *self.says)


def _answers(node: Node) -> bool:
    """Whether pressing it may say yes to what stands around it, as "OK" does. A field is only filled."""
    return receiver(node) is not None and node.role != "text_field"


def _texts(screen: Screen, touched: Node, node: Node) -> Iterator[str]:
    for each in (touched, node):
        yield from _said(each)
    inside = list(_plain_texts(screen, touched))
    if len(inside) <= _MOST_TEXTS:
        yield from inside


def _plain_texts(screen: Screen, box: Node) -> Iterator[str]:
    """What stands in a box, without the touchable things and the lists in it."""
    skipped = 0
    for each in screen.inside(box):
        if each.order < skipped:
            continue
        if touchable(each) or each.scrollable:
            skipped = each.end
        else:
            yield from _said(each)


def _said(node: Node) -> Iterator[str]:
    """What a field holds is not its name: a letter that says "pay" is no payment, a password no name."""
    own = "" if node.role == "text_field" else node.shown_text
    hidden = clean(node.text) if node.password else ""
    for text in (own, node.description, node.hint_text, node.tooltip_text):
        if (said := clean(text)) and said != hidden:
            yield said


def _around(screen: Screen, touched: Node) -> list[str]:
    for box in touched.ancestors():
        if texts := list(_plain_texts(screen, box)):
            return texts if sum(map(len, texts)) <= _AROUND else []
    return []


Kind = VerdictKind
SPANS: tuple[Span, ...] = ("never", "time", "session", "always")


@dataclass(frozen=True, slots=True)
class Verdict:
    """`rule` names who decided: a rule of the file, or the built-in table."""

    kind: Kind
    rule: str
    why: str = ""
    remember: Span = "never"
    policy: str = ""
    """Which rules they were: the digest of their file, or "defaults"."""
    about: tuple[str, str] | None = None
    """What an answer is remembered for, action and context, where that is not the act itself."""

    def rejection(self) -> ActionRejected:
        """The failure of an act that this verdict denies."""
        why = f": {self.why}" if self.why else ""
        return ActionRejected(
            f"{self.rule} denies it{why}",
            hint="Choose another way; only the person who owns the policy can change it.",
            rule=self.rule,
            why=self.why,
        )
