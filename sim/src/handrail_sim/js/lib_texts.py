"""String and RegExp. Regular expressions are Python's, which differ in what few scripts use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from handrail_sim.js.define import arg, constructor, methods
from handrail_sim.js.values import UNDEFINED, Fault, Func, Native, Obj, Value, to_number, to_text

if TYPE_CHECKING:
    from handrail_sim.js.realm import Realm

_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


def furnish(realm: Realm) -> None:
    """Hang them up."""
    text, _ = constructor(realm, "String", lambda given, _: to_text(arg(given, 0, "")))
    codes: Native = lambda _, given: "".join(chr(int(one)) for one in given)  # noqa: E731
    methods(realm, text, {"fromCharCode": codes})
    methods(realm, realm.protos["String"], {**_plain(realm), **_matching(realm)})
    _, regex = constructor(realm, "RegExp", _regex)
    methods(
        realm,
        regex,
        {
            "test": lambda this, given: this.own.search(to_text(arg(given, 0))) is not None,
            "exec": lambda this, given: _found(realm, this.own.search(to_text(arg(given, 0)))),
            "toString": lambda this, _: f"/{this.get('source')}/{this.get('flags')}",
        },
    )


def _regex(given: list[Value], kind: Func) -> Obj:
    source, flags = arg(given, 0, ""), to_text(arg(given, 1, ""))
    if isinstance(source, Obj) and source.kind == "RegExp":
        source, flags = source.get("source"), flags or source.get("flags")
    made = Obj(kind.get("prototype"), "RegExp")
    named = re.sub(r"\(\?<(?=[A-Za-z])", "(?P<", to_text(source))
    try:
        made.own = re.compile(named, sum(_FLAGS.get(flag, 0) for flag in flags))
    except re.error as error:
        raise Fault("SyntaxError", f"Invalid RegExp: {error}") from None
    for name, value in (("source", source), ("flags", flags), ("global", "g" in flags)):
        made.put(name, value)
    return made


def _found(realm: Realm, found: re.Match[str] | None) -> Value:
    if found is None:
        return None
    parts = realm.array([UNDEFINED if one is None else one for one in (found.group(), *found.groups())])
    parts.put("index", found.start())
    return parts


def _plain(realm: Realm) -> dict[str, Native]:
    def cut(this: Value, given: list[Value]) -> str:
        start, end = _place(arg(given, 0, 0), len(this)), arg(given, 1)
        return str(this[start : len(this) if end is UNDEFINED else _place(end, len(this))])

    def between(this: Value, given: list[Value]) -> str:
        ends = [max(0, int(to_number(one))) for one in (arg(given, 0, 0), arg(given, 1, len(this)))]
        return str(this[min(ends) : max(ends)])

    def character(this: Value, given: list[Value]) -> str:
        at = int(arg(given, 0, 0))
        return str(this[at]) if 0 <= at < len(this) else ""

    return {
        "toString": lambda this, _: this,
        "valueOf": lambda this, _: this,
        "charAt": character,
        "charCodeAt": lambda this, given: ord(character(this, given) or "\0"),
        "indexOf": lambda this, given: this.find(to_text(arg(given, 0)), int(arg(given, 1, 0))),
        "lastIndexOf": lambda this, given: this.rfind(to_text(arg(given, 0))),
        "includes": lambda this, given: to_text(arg(given, 0)) in this,
        "startsWith": lambda this, given: this.startswith(to_text(arg(given, 0))),
        "endsWith": lambda this, given: this.endswith(to_text(arg(given, 0))),
        "slice": cut,
        "substring": between,
        "substr": lambda this, given: this[int(given[0]) :][: int(arg(given, 1, len(this)))],
        "toLowerCase": lambda this, _: this.lower(),
        "toUpperCase": lambda this, _: this.upper(),
        "trim": lambda this, _: this.strip(),
        "repeat": lambda this, given: this * int(arg(given, 0, 0)),
        "padStart": lambda this, given: this.rjust(int(given[0]), to_text(arg(given, 1, " "))),
        "concat": lambda this, given: this + "".join(map(to_text, given)),
        "split": lambda this, given: realm.array(_split(this, given)),
    }


def _place(value: Value, size: int) -> int:
    at = int(to_number(value)) if value is not UNDEFINED else 0
    return max(0, size + at) if at < 0 else min(at, size)


def _split(text: str, given: list[Value]) -> list[Value]:
    sign = arg(given, 0)
    if sign is UNDEFINED:
        return [text]
    if isinstance(sign, Obj):
        return list(sign.own.split(text))
    return list(text.split(to_text(sign)) if sign else text)


def _matching(realm: Realm) -> dict[str, Native]:
    def match(this: Value, given: list[Value]) -> Value:
        sign = given[0] if isinstance(given[0], Obj) else realm.regex(to_text(given[0]), "")
        if sign.get("global"):
            found = [one.group() for one in sign.own.finditer(this)]
            return realm.array(list(found)) if found else None
        return _found(realm, sign.own.search(this))

    def replace(this: Value, given: list[Value]) -> str:
        sign, by = given[0], given[1]

        def write(found: re.Match[str]) -> str:
            if isinstance(by, Func):
                return to_text(by.call(UNDEFINED, [found.group(), *found.groups(), found.start(), this]))
            return re.sub(
                r"\$(\d|&)", lambda at: found.group(0 if at[1] == "&" else int(at[1])) or "", to_text(by)
            )

        if isinstance(sign, Obj):
            return str(sign.own.sub(write, this, count=0 if sign.get("global") else 1))
        return re.sub(re.escape(to_text(sign)), write, this, count=1)

    return {
        "match": match,
        "replace": replace,
        "search": lambda this, given: found.start() if (found := given[0].own.search(this)) else -1,
    }
