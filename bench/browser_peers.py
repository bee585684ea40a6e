"""Handrail's browser beside @playwright/mcp, in one run on the same pages: tokens, recall, time of a click.

Opt in: HANDRAIL_PLAYWRIGHT_MCP names the folder into which `npm install @playwright/mcp` was run. Both are
spoken to by MCP over stdio, both drive the Chromium that is installed. Tokens are o200k. Recall: how many of
the elements that a page itself counts as actionable are named in the text of a look.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rs_bpe.bpe import openai

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.browser_pages import BODIES, PeerSite, peer_site
from bench.doors import HANDRAIL, MARK, Mcp, end_descendants

from handrail.browser.process import find_browser
from handrail.errors import BrowserConnectionError

VARIABLE = "HANDRAIL_PLAYWRIGHT_MCP"
ROUNDS = 15
GOAL_TOKENS = 1_800
count = openai.o200k_base().count


@dataclass
class Peer:
    """One server, and how it is asked."""

    name: str
    server: Mcp
    go: Callable[[str], str]
    look: Callable[[], str]
    click: Callable[[str, str], str]
    """The words of an element, and the last look."""
    definitions: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    recall: dict[str, float] = field(default_factory=dict)
    look_ms: dict[str, float] = field(default_factory=dict)
    click_ms: dict[str, float] = field(default_factory=dict)
    click_tokens: dict[str, int] = field(default_factory=dict)


def ours(home: Path) -> Peer:
    config = home / "config"
    config.mkdir(parents=True, mode=0o700)
    home.chmod(0o700)
    (config / "policy.toml").write_text('known_hosts = ["127.0.0.1"]\n')
    env = {**os.environ, "HANDRAIL_HOME": str(home), "HANDRAIL_NO_DAEMON": "1", MARK: str(home)}
    server = Mcp([*HANDRAIL, "mcp", "--device", "browser:bench"], env)
    return Peer(
        "Handrail",
        server,
        lambda url: server.tool("run_flow", steps=[{"open_url": url}], reason="bench"),
        lambda: server.tool("get_ui_tree"),
        lambda words, _: server.tool("tap", target=words, reason="bench"),
    )


def theirs(folder: Path, program: str, scratch: Path) -> Peer:
    script = folder / "node_modules" / "@playwright" / "mcp" / "cli.js"
    words = ["--headless", "--isolated", "--no-sandbox", "--executable-path", program]
    words += ["--output-dir", str(scratch)]
    server = Mcp(["node", str(script), *words, "--viewport-size", "1280x800"], dict(os.environ))

    def click(words: str, look: str) -> str:
        found = re.search(rf'"{re.escape(words)}".*?\[ref=(\w+)\]', look)
        if found is None:
            raise SystemExit(f"{words!r} is not in the snapshot")
        return server.tool("browser_click", element=words, target=found[1])

    return Peer(
        "Playwright MCP",
        server,
        lambda url: server.tool("browser_navigate", url=url),
        lambda: server.tool("browser_snapshot"),
        click,
    )


def recall(look: str, wanted: list[str]) -> float:
    """Of all elements that have words: how many times their words are said, as often as there are such."""
    named = Counter([one for one in wanted if one])
    found = sum(min(times, look.count(words)) for words, times in named.items())
    return found / sum(named.values()) if named else 1.0


def measure(peer: Peer, site: PeerSite) -> None:
    listed = peer.server._ask("tools/list")["result"]["tools"]
    peer.definitions = count(json.dumps(listed, ensure_ascii=False))
    for name in BODIES:
        site.heard[name].clear()
        peer.go(site.url(name))
        site.heard[name].wait(10)
        took = []
        for _ in range(3):
            began = time.perf_counter()
            text = peer.look()
            took.append((time.perf_counter() - began) * 1000)
        peer.look_ms[name] = statistics.median(took)
        peer.tokens[name] = count(text)
        peer.recall[name] = recall(text, site.judged.get(name, []))
    peer.go(site.url("clicks"))
    look = peer.look()
    for words in ("Add milk", "Ready"):
        took, text = [], ""
        for _ in range(ROUNDS):
            began = time.perf_counter()
            text = peer.click(words, look)
            took.append((time.perf_counter() - began) * 1000)
        peer.click_ms[words], peer.click_tokens[words] = statistics.median(took), count(text)


def tell(words: str) -> None:
    print(words)


def table(peers: list[Peer]) -> None:
    tell(f"{'':<22}" + "".join(f"{peer.name:>26}" for peer in peers))
    for name in BODIES:
        cells = [
            f"{peer.tokens[name]:>6} tk {peer.recall[name]:>5.0%} {peer.look_ms[name]:>7.1f} ms"
            for peer in peers
        ]
        tell(f"{name:<22}" + "".join(f"{cell:>26}" for cell in cells))
    rows: dict[str, Callable[[Peer], Any]] = {
        "the ten pages, tokens": lambda peer: sum(peer.tokens.values()),
        "recall": lambda peer: f"{statistics.mean(peer.recall.values()):.1%}",
        "definitions, tokens": lambda peer: peer.definitions,
        **{
            f"click {words!r}": lambda peer, words=words: (
                f"{peer.click_ms[words]:.0f} ms {peer.click_tokens[words]} tk"
            )
            for words in peers[0].click_ms
        },
    }
    for what, row in rows.items():
        tell(f"{what:<22}" + "".join(f"{row(peer)!s:>26}" for peer in peers))
    tell(f"goals: {GOAL_TOKENS} tokens at no worse recall, half of the definitions, no slower clicks")


def main() -> None:
    folder = os.environ.get(VARIABLE, "")
    try:
        program = find_browser(os.environ)
    except BrowserConnectionError as error:
        tell(f"nothing was measured: {error.message}")
        return
    if not folder:
        tell(f"Handrail alone: set {VARIABLE} to the folder of `npm install @playwright/mcp` to compare")
    with peer_site() as site, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        peers: list[Peer] = []
        makers = [lambda: ours(Path(home) / "home")]
        if folder:
            makers.append(lambda: theirs(Path(folder), program, Path(home) / "theirs"))
        for make in makers:
            peer = make()
            try:
                measure(peer, site)
            finally:
                peer.server.close()
                end_descendants(
                    str(Path(home) / "home")
                )  # our browser would be kept for a quarter of an hour
            peers.append(peer)
    table(peers)


if __name__ == "__main__":
    main()
