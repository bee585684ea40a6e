"""Throws damaged dumps at the whole of `screen/`: `python tests/fuzz/dumps.py --count 100000 --seed 1`.

Nothing but `TreeParseError` may come out of `parse`, nothing at all out of what works on a parsed screen, and
where the stock reader accepts a dump it must agree with expat. Prints the slowest dump (CPU time); the goal:
below 100 ms.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # run as a script, the repository is not on the path
    sys.path.insert(0, str(ROOT))

from handrail.errors import TreeParseError  # noqa: E402
from handrail.screen.compact import CompactOptions, render  # noqa: E402
from handrail.screen.elements import elements, fresh_refs  # noqa: E402
from handrail.screen.exports import full_text, outline  # noqa: E402
from handrail.screen.fingerprint import idle_fingerprint, screen_fingerprint, state_signature  # noqa: E402
from handrail.screen.node import Screen  # noqa: E402
from handrail.screen.parse import parse  # noqa: E402
from handrail.screen.windows import loading_indicators, system_dialogs  # noqa: E402
from tests.corpus import CORPUS  # noqa: E402
from tests.fuzz.tally import Report, Tally, main  # noqa: E402
from tests.unit.screen.stock_dumps import hierarchy, node  # noqa: E402

GOAL_MS = 100.0
Mutation = Callable[[random.Random, bytes], bytes]

_OWN = (
    hierarchy(
        node(
            "FrameLayout",
            node("EditText", text="Ada & <Bo>", extra=' displayed="false" hint="Name"'),
            node("Button"),
        ),
        node("ListView", *[node("LinearLayout", node("TextView", text=f"Row {n} 😀")) for n in range(9)]),
    ),
    '{"ok": true, "packageName": "com.a", "tree": {"className": "android.widget.ListView", "bounds": '
    '{"left": 0, "top": 0, "right": 9, "bottom": 9}, "children": [{"text": "\\u00e9", "clickable": true}]}}',
    '{"views": [{"class": "a", "parent": -1, "children": [1], "bounds": [[0, 0], [9, 9]]}, {"parent": 0}]}',
    '{"activity": {"root": {"class": "a", "bounds": [0, 0, 9, 9], "children": [{"content-desc": [null]}]}}}',
)
_TOKENS = (
    b'"', b"<", b">", b"&", b"/>", b"</node>", b"<node ", b"\x00", b"\xff\xfe", b"&#xD83D;", b"&lol;",
    b"<!--", b"<![CDATA[", b"-->", b"{", b"}", b"[", b"]", b",", b"null", b"1e999", b"-", b"99999999999",
    b"\\ud800", b"'", b"\n", b"</hierarchy>", b"<hierarchy>", b'<window layer="9">', b"\xef\xbf\xbe",
    b"<?xml ?>", "\u202e".encode(),
)  # fmt: skip
_ENCODINGS = ("utf-16", "utf-16-be", "gbk", "latin-1", "utf-8-sig", "cp1252", "shift_jis")


def cut(rng: random.Random, data: bytes) -> bytes:
    return (
        data[: rng.randrange(len(data) + 1)] if rng.random() < 0.7 else data[rng.randrange(len(data) + 1) :]
    )


def flip_bytes(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def insert_token(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(_TOKENS) * rng.choice((1, 1, 1, 2, 50)) + data[at:]


def drop_chunk(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def double_chunk(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:end] + data[start:end] * rng.choice((1, 1, 3)) + data[end:]


def swap_chunks(rng: random.Random, data: bytes) -> bytes:
    first, second = sorted((_span(rng, data), _span(rng, data)))
    if first[1] > second[0]:
        return data
    return (
        data[: first[0]]
        + data[second[0] : second[1]]
        + data[first[1] : second[0]]
        + data[first[0] : first[1]]
        + data[second[1] :]
    )


def recode(rng: random.Random, data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode(rng.choice(_ENCODINGS), "replace")


def keep(rng: random.Random, data: bytes) -> bytes:
    return data


MUTATIONS: tuple[Mutation, ...] = (
    cut, flip_bytes, insert_token, insert_token, drop_chunk, double_chunk, swap_chunks, recode, keep,
)  # fmt: skip


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 5, 40, 400)))


def sources() -> list[bytes]:
    """The corpus, if there is one, and a few dumps of our own."""
    own = [text.encode() for text in _OWN]
    if CORPUS is None:
        return own
    files = sorted(path for path in CORPUS.rglob("*") if path.suffix in (".xml", ".json"))
    return own + [path.read_bytes() for path in files]


def mutants(count: int, seed: int) -> Iterator[bytes]:
    """`count` damaged dumps, the same ones for the same seed and corpus."""
    rng = random.Random(seed)
    pool = sources()
    for _ in range(count):
        data = rng.choice(pool)
        for _ in range(rng.randint(1, 3)):
            data = rng.choice(MUTATIONS)(rng, data)
        yield data


def take(data: bytes, _: int) -> str:
    screen = read(data)
    if screen is None:
        return "refused"
    use(screen)
    return "mended" if screen.warnings else "read"


def read(data: bytes) -> Screen | None:
    """The screen, or None where parse refused; anything else is a failure of the program."""
    try:
        return parse(data)
    except TreeParseError as refusal:
        if not refusal.details:
            raise ValueError("a refusal must name a position") from refusal
        return None


def use(screen: Screen) -> None:
    """Everything that is done with a parsed screen."""
    assert all(one.order == at and at < one.end <= len(screen.nodes) for at, one in enumerate(screen.nodes))
    found = elements(screen)
    render(screen, found, fresh_refs(found), CompactOptions())
    for fingerprint in (idle_fingerprint, screen_fingerprint, state_signature):
        assert fingerprint(screen)
    outline(screen)
    full_text(screen)
    loading_indicators(screen)
    system_dialogs(screen)


def run(count: int, seed: int, report: Report = str) -> Tally:
    return Tally.of(mutants(count, seed), take, report)


if __name__ == "__main__":
    sys.exit(main(run, __doc__, 100_000, GOAL_MS))
