"""The pages of MiniWoB++ as their package installed them, served on loopback; which tasks there are."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.read import nearest

PACKAGE = "miniwob"
OUT_OF_REACH = {
    "bisect-angle": "geometry", "right-angle": "geometry", "circle-center": "geometry",
    "find-midpoint": "geometry", "draw-circle": "drawing", "draw-line": "drawing",
    "count-sides": "a canvas", "chase-circle": "motion", "moving-items": "motion", "hover-shape": "motion",
    "hot-cold": "motion", "use-colorwheel": "colours in pixels", "use-colorwheel-2": "colours in pixels",
    "drag-cube": "a cube in three dimensions", "simon-says": "a flashing order",
}  # fmt: skip
"""What a tree of elements does not tell; a model that sees pictures may try."""
STEPS = 60
"""The budget of every task."""


@dataclass(frozen=True, slots=True)
class WobTask:
    """One page with one seed. `instruction` is the page's own, known when the episode has begun."""

    id: str
    seed: int
    tags: tuple[str, ...] = ()
    instruction: str = ""
    steps: int = STEPS
    repeat: int = 1

    @property
    def title(self) -> str:
        return self.id.replace("-", " ").capitalize()


def pages() -> Path:
    """The folder that the package has installed; nothing of the package is run.

    Raises `Unsupported`.
    """
    found = importlib.util.find_spec(PACKAGE)
    for place in (found.submodule_search_locations or ()) if found else ():
        if (folder := Path(place) / "html").is_dir():
            return folder
    raise Unsupported(
        "The pages of MiniWoB++ are not installed",
        hint=f"pip install --no-deps {PACKAGE}: its other requirements are not needed here.",
    )


def page_file(name: str) -> Path:
    """What a task is made of, besides the package's shared scripts."""
    return pages() / PACKAGE / f"{name}.html"


def load_wob_tasks(
    wanted: Sequence[str], seeds: Sequence[int], tags: Mapping[str, tuple[str, ...]], repeats: int = 1
) -> list[WobTask]:
    """By name or tag, with every seed and repeat; without a wish all. Raises `InvalidAction`."""
    names = sorted(one.stem for one in (pages() / PACKAGE).glob("*.html"))
    tagged = {
        name: ("out of reach",) if name in OUT_OF_REACH else tags.get(name, ("other",)) for name in names
    }
    chosen = [name for word in wanted for name in _chosen(word, tagged)] if wanted else names
    return [
        WobTask(name, seed, tagged[name], repeat=repeat)
        for repeat in range(1, repeats + 1)
        for name in dict.fromkeys(chosen)
        for seed in seeds
    ]


def _chosen(word: str, tagged: Mapping[str, tuple[str, ...]]) -> list[str]:
    if word in tagged:
        return [word]
    if found := [name for name, some in tagged.items() if word in some]:
        return found
    close = nearest(word, [*tagged, *dict.fromkeys(tag for some in tagged.values() for tag in some)])[:2]
    hint = f"Did you mean {' or '.join(close)}?" if close else "--list names them all."
    raise InvalidAction(f"no task or tag is named {word!r}", path="tasks", hint=hint)


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".html": "text/html; charset=utf-8"}

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@contextmanager
def wob_site() -> Iterator[str]:
    """The origin, for as long as the block lasts. Any free port, on loopback alone."""
    handler = partial(_Handler, directory=str(pages()))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
