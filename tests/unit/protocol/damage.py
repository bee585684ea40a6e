"""Makes input that nobody should send: good samples damaged as data or as bytes, and pure noise."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.unit.protocol.samples import DATA, TEXTS

WORDS = (
    "type", "action", "target", "text", "x", "y", "name", "arguments", "selector", "condition", "match",
    "steps", "expect", "all", "any", "within", "content", "data", "renderer", "operation", "op", "reason",
    "platform", "duration_ms", "durationMs", "value", "key", "tool_calls", "function", "thought", "",
)  # fmt: skip
HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 1e308, -0.0, 2**31, 10**30, "", " ", "5", "nan", "@b1", "1,2", "é😀",
    "\x00", "\u202e", "\u2028", "a" * 2_000, [], {}, [[]], [None], {"": None}, {"type": []}, "${secret:X}",
    "'", "tap", "KEYCODE_BACK", "window.close", "HELLO", {"x": 1, "y": 2}, {"text": "Save"}, ["a", 1, {}],
    "ios", "absent",
)  # fmt: skip
TOKENS = (
    b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\\ud800", b"\\u0000", b"null", b"NaN", b"1e999", b"-",
    b"//", b"/*", b"*/", b"#", b"'", b"\n", b"\r\n", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf",
    b"```", b"tap(", b")", b"=", "“".encode(), "\u2028".encode(), b"9" * 400, b'"type":', b'{"type":"tap"}',
)  # fmt: skip


def random_json(rng: random.Random, depth: int = 0) -> Any:
    shape = rng.random()
    if depth > 4 or shape < 0.4:
        return rng.choice(HOSTILE)
    if shape < 0.6:
        return [random_json(rng, depth + 1) for _ in range(rng.randint(0, 4))]
    return {_key(rng): random_json(rng, depth + 1) for _ in range(rng.randint(0, 5))}


def _key(rng: random.Random) -> str:
    return rng.choice(WORDS) if rng.random() < 0.9 else "".join(map(chr, rng.choices(range(32, 900), k=5)))


def _holders(data: Any) -> list[Any]:
    """Every object and list in the data that has something to damage."""
    found, queue = [], [data]
    while queue:
        one = queue.pop()
        if isinstance(one, dict | list) and one:
            found.append(one)
            queue.extend(one.values() if isinstance(one, dict) else one)
    return found


def _damage_data(rng: random.Random) -> bytes:
    data = copy.deepcopy(rng.choice(DATA))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        holders = _holders(data)
        if not holders:
            break
        holder = rng.choice(holders)
        at = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
        rng.choice(DATA_DAMAGE)(rng, holder, at)
    return json.dumps(data, ensure_ascii=rng.random() < 0.5).encode()


def _replace(rng: random.Random, holder: Any, at: Any) -> None:
    holder[at] = copy.deepcopy(rng.choice(HOSTILE))


def _nudge(rng: random.Random, holder: Any, at: Any) -> None:
    """Another number, another text: often still an action."""
    if isinstance(holder[at], str):
        holder[at] = rng.choice(("Save", "@b2", holder[at] + "x", "up", "el_1", "ünï"))
    elif isinstance(holder[at], int):
        holder[at] = not holder[at] if isinstance(holder[at], bool) else rng.randint(-5, 40_000)


def _remove(rng: random.Random, holder: Any, at: Any) -> None:
    del holder[at]


def _add(rng: random.Random, holder: Any, at: Any) -> None:
    if isinstance(holder, dict):
        holder[_key(rng)] = copy.deepcopy(rng.choice(HOSTILE))
    else:
        holder.append(random_json(rng, 3))


def _rename(rng: random.Random, holder: Any, at: Any) -> None:
    """Another spelling, a typing error, or another field's name; sometimes beside the right one."""
    if isinstance(holder, dict):
        name = rng.choice([at.upper(), at[:-1], at + "s", _key(rng), at.replace("_", ""), f"{at}_"])
        holder[name] = holder[at] if rng.random() < 0.3 else holder.pop(at)


def _wrap(rng: random.Random, holder: Any, at: Any) -> None:
    holder[at] = [holder[at]] if rng.random() < 0.5 else {_key(rng): holder[at]}


def _transplant(rng: random.Random, holder: Any, at: Any) -> None:
    holder[at] = copy.deepcopy(rng.choice(DATA))


DATA_DAMAGE = (_nudge, _nudge, _nudge, _replace, _replace, _remove, _add, _rename, _wrap, _transplant)


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randint(0, len(data))]


def _insert(rng: random.Random, data: bytes) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(TOKENS) * rng.choice((1, 1, 1, 3, 40)) + data[at:]


def _drop(rng: random.Random, data: bytes) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + data[at + rng.randint(1, 8) :]


def _flip(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data)) if data else 0
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _join(rng: random.Random, data: bytes) -> bytes:
    return data + rng.choice((b"", b"\n", b" then ", b",")) + rng.choice(TEXTS)


BYTE_DAMAGE = (_cut, _insert, _insert, _drop, _flip, _join)


def _damage_bytes(rng: random.Random) -> bytes:
    data = rng.choice(TEXTS)
    for _ in range(rng.randint(1, 3)):
        data = rng.choice(BYTE_DAMAGE)(rng, data)
    return data


def _noise(rng: random.Random) -> bytes:
    if rng.random() < 0.5:
        return rng.randbytes(rng.randint(0, 200))
    return b"".join(rng.choices(TOKENS, k=rng.randint(0, 60)))


def _deep(rng: random.Random) -> bytes:
    """Within, all or anything nested in itself, beyond every limit now and then."""
    depth = rng.choice((10, 60, 190, 260, 1_000, 10_000))
    opener = rng.choice((b'{"within":', b'{"a":', b"[", b'{"type":"tap","target":{"within":', b"(", b"{'"))
    closer = b"}" * depth if opener.startswith(b"{") else b"]" * depth
    return opener * depth + b"1" + (closer if rng.random() < 0.7 else b"")


def _wide(rng: random.Random) -> bytes:
    """Thousands of unknown fields, or a list of thousands."""
    many = rng.choice((50, 500, 5_000))
    fields = {f"k{n}": rng.choice((n, "v", None)) for n in range(many)}
    data = {**rng.choice(DATA), **fields} if rng.random() < 0.5 else [rng.choice(DATA)] * (many // 50)
    return json.dumps(data).encode()


KINDS: tuple[tuple[Callable[[random.Random], bytes], int], ...] = (
    (_damage_data, 5_000),
    (_damage_bytes, 3_000),
    (lambda rng: json.dumps(random_json(rng)).encode(), 1_200),
    (_noise, 770),
    (_deep, 20),
    (_wide, 10),
)
"""How inputs are made, and how often in 10,000."""


def mutants(count: int, seed: int) -> Iterator[bytes]:
    """`count` inputs, the same ones for the same seed."""
    rng = random.Random(seed)
    makers = [make for make, _ in KINDS]
    weights = [weight for _, weight in KINDS]
    for _ in range(count):
        yield rng.choices(makers, weights)[0](rng)
