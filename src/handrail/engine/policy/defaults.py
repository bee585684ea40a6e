"""What holds where no rule of the file matches: one line for every action type, and the few special cases.

The table stands in docs/safety.md, and a test keeps it complete.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from handrail.engine.policy.grave import what_it_does
from handrail.engine.policy.subject import Caller, Kind, Span, Subject, Verdict
from handrail.protocol.actions import DESK_ACTIONS
from handrail.protocol.observe import QueryDb


@dataclass(frozen=True, slots=True)
class Default:
    """The verdict for a caller on this machine and for one elsewhere."""

    local: Kind
    remote: Kind
    why: str = ""
    remember: Span = "session"

    def says(self, rule: str, caller: Caller) -> Verdict:
        kind = self.local if caller == "local" else self.remote
        if kind == "allow":
            return Verdict(kind, rule)
        return Verdict(kind, rule, self.why, self.remember if kind == "ask" else "never")


@dataclass(frozen=True, slots=True)
class Special:
    """A case that the type alone does not tell. `test` gives None while the screen could still decide."""

    name: str
    what: str
    types: frozenset[str]
    default: Default
    test: Callable[[Subject], bool | None]
    about: Callable[[Subject], str] = lambda _: ""
    """What exactly it is this time."""

    def says(self, subject: Subject) -> Verdict:
        verdict = self.default.says(f"built-in: {self.name}", subject.caller)
        about = self.about(subject)
        return replace(verdict, why=f"{about}; {verdict.why}") if about else verdict


_FREE = Default("allow", "allow")
_DEVICE = Default("allow", "ask", "it changes the device, and the caller is on another machine")
_PRIVATE = Default("allow", "ask", "it reads an app's own data, and the caller is on another machine")

DEFAULTS: dict[str, Default] = {
    **dict.fromkeys(("tap", "double_tap", "long_press", "swipe", "drag", "pinch", "rotate"), _FREE),
    **dict.fromkeys(("scroll_to", "set_value", "type_text", "clear_text", "press_key"), _FREE),
    **dict.fromkeys(("start_app", "set_orientation"), _FREE),
    **dict.fromkeys(("stop_app", "restart_app", "set_network", "set_clipboard"), _DEVICE),
    "revoke_permission": _DEVICE,
    "reset_app": Default("ask", "deny", "it deletes all data of an app"),
    "install_app": Default("ask", "deny", "it installs software"),
    "open_url": Default("allow", "ask", "it opens an address for a caller on another machine", "always"),
    "grant_permission": Default("ask", "deny", "it widens what an app may do"),
    "shell": Default("ask", "deny", "a command on the device can do anything that adb can"),
    "run_script": Default("ask", "deny", "it runs commands on this machine"),
    **dict.fromkeys(("get_ui_tree", "get_state", "what_changed", "screenshot"), _FREE),
    **dict.fromkeys(("get_logs", "get_shared_prefs", "query_db"), _PRIVATE),
    **dict.fromkeys(("wait", "wait_for", "wait_for_stable"), _FREE),
    **dict.fromkeys(("expect_visible", "expect_absent", "expect_text"), _FREE),
    **dict.fromkeys(("expect_state", "expect_screen", "expect_app"), _FREE),
    **dict.fromkeys(("request_human_auth", "finish"), _FREE),
    **dict.fromkeys(DESK_ACTIONS, _FREE),
}  # fmt: skip

_PRESSING = frozenset({"tap", "double_tap", "long_press", "swipe", "drag", "press_key", "set_value"})


def _is_grave(subject: Subject) -> bool | None:
    if subject.touched is None:
        return None
    return any(what_it_does(one) for one in subject.touched)


def _what_is_grave(subject: Subject) -> str:
    for one in subject.touched or ():
        if does := what_it_does(one):
            return f"{one.label or one.id!r} {does}"
    return ""


def _is_bare_password(subject: Subject) -> bool | None:
    if subject.has_secret:
        return False
    return None if subject.touched is None else any(one.password for one in subject.touched)


def _is_new_host(subject: Subject) -> bool:
    return not subject.url_host or subject.url_host not in subject.known_hosts


def _writes(subject: Subject) -> bool:
    return isinstance(subject.action, QueryDb) and subject.action.write


SPECIAL: tuple[Special, ...] = (
    Special(
        "a label that commits",
        "on an element whose label pays, sends money, deletes an account or posts publicly",
        _PRESSING,
        Default("ask", "ask", "it can't be taken back", "never"),
        _is_grave,
        _what_is_grave,
    ),
    Special(
        "a bare password",
        "into a password field, without `${secret:…}`",
        frozenset({"type_text"}),
        Default("ask", "ask", "a password in plain text; keep it as a secret and write ${secret:NAME}"),
        _is_bare_password,
    ),
    Special(
        "a new host",
        "to a host that is not known, or to another scheme than http and https",
        frozenset({"open_url"}),
        Default("ask", "ask", "it opens an address that was not opened before", "always"),
        _is_new_host,
    ),
    Special(
        "a writing query",
        "with `write`",
        frozenset({"query_db"}),
        Default("ask", "deny", "it changes an app's database"),
        _writes,
    ),
)


def built_in(subject: Subject) -> Verdict | None:
    """None while the screen could still decide, which it never can once it was read."""
    for special in SPECIAL:
        if subject.type in special.types:
            holds = special.test(subject)
            if holds is None:
                return None
            if holds:
                return special.says(subject)
    return DEFAULTS[subject.type].says(f"built-in: {subject.type}", subject.caller)
