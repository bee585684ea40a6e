"""A rule as a sentence for people, who see by it whether the file says what they meant. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from handrail.engine.policy.rule import Rule
from handrail.engine.policy.values import Plain

VERBS = {"allow": "Allow", "ask": "Ask you before", "deny": "Never allow"}
KEPT = {
    "never": "Each time anew.",
    "time": "Your answer may count for a time.",
    "session": "Your answer may count for a session.",
    "always": "Your answer may count for always.",
}
_CALLERS = {"local": "from this machine", "remote": "from another machine"}
_EFFECTS = {
    "read": "only looks",
    "input": "touches or types",
    "system": "changes the system",
    "sensitive": "reads or changes an app's own data",
    "desk": "changes the desk",
}
_DOORS = {
    "python": "a Python program",
    "cli": "the command line",
    "mcp": "an MCP client",
    "http": "HTTP",
    "ws": "the WebSocket",
    "flow": "a flow",
    "agent": "Handrail's own agent",
    "desk": "a person at the desk",
}
Clause = Callable[[Sequence[Plain]], str]


def sentence(rule: Rule) -> str:
    """`Ask you before anything that would press what says “Pay*”: it costs money.`"""
    told = {part.name: _several(part.plain()) for part in rule.parts}
    what = _listed(_spaced(told.pop("action"))) if "action" in told else "anything"
    if told.get("pressed") == [True] and "label" in told:
        told["presses"] = told.pop("label")
        del told["pressed"]
    clauses = [clause(told[name]) for name, clause in CLAUSES.items() if name in told]
    why = f": {rule.why}" if rule.why else ""
    return f"{VERBS[rule.verdict]} {' '.join([what, *clauses])}{why}."


def kept(rule: Rule) -> str:
    """How long an answer may count; '' where nobody is asked."""
    return KEPT[rule.remember] if rule.verdict == "ask" else ""


def _several(values: Plain | list[Plain]) -> list[Plain]:
    return values if isinstance(values, list) else [values]


def _listed(values: Sequence[Plain]) -> str:
    """`a, b or c`"""
    names = [str(value) for value in values]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _spaced(values: Sequence[Plain]) -> list[Plain]:
    return [str(one).replace("_", " ") for one in values]


def _quoted(values: Sequence[Plain]) -> str:
    """A regular expression has slashes of its own."""
    return _listed([one if str(one).startswith("/") else f"“{one}”" for one in values])


def _named(names: Mapping[str, str], values: Sequence[Plain]) -> str:
    return _listed([names.get(str(one), str(one)) for one in values])


def _is(yes: str, no: str) -> Clause:
    return lambda values: yes if values[0] is True else no


CLAUSES: dict[str, Clause] = {
    "effect": lambda values: f"that {_named(_EFFECTS, values)}",
    "semantic": lambda values: f"that is for {_listed(values)}",
    "presses": lambda values: f"that would press what says {_quoted(values)}",
    "pressed": _is("that would press an element", "that presses nothing"),
    "label": lambda values: f"on what says {_quoted(values)}",
    "id": lambda values: f"with the id {_listed(values)}",
    "role": lambda values: f"on a {_listed(_spaced(values))}",
    "password": _is("in a password field", "outside password fields"),
    "secret": _is("that types a secret by its name", "that types no secret by its name"),
    "app": lambda values: f"in {_listed(values)}",
    "host": lambda values: f"to {_listed(values)}",
    "device": lambda values: f"on the device {_listed(values)}",
    "door": lambda values: f"that comes by {_named(_DOORS, values)}",
    "caller": lambda values: _named(_CALLERS, values),
    "time": lambda values: f"between {_listed([str(one).replace('-', ' and ') for one in values])}",
    "days": lambda values: f"on {_listed([str(one).capitalize() for one in values])}",
}
"""In the order in which a sentence says them."""
