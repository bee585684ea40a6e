"""Interactions on pages of strangers by Handrail and by @playwright/mcp, each judged in the page's DOM.

Opt in: HANDRAIL_STRANGERS names the folder that `stranger_site.py` describes, with @playwright/mcp among its
packages. Both peers get the same steps, find their targets in the text that they have read, and are judged by
an expression in the page. `wrong`: a peer said that all was done, and the page says that it was not.

    python bench/browser_strangers.py [--only WORDS] [--peer ours|theirs] [--json FILE] [--verbose]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rs_bpe.bpe import openai

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.doors import HANDRAIL, MARK, Mcp, end_descendants
from bench.stranger_cases import BODIES, CASES
from bench.stranger_site import StrangersSite, strangers_site
from bench.stranger_steps import Case, Step

from handrail.browser.process import find_browser

VARIABLE = "HANDRAIL_STRANGERS"
LAST = ("internet login", "native stays")
"""A typed password makes fields of its origin suspect, and the other page lets nobody leave."""
LETTERS = {
    "button": "bgi", "link": "lbgi", "textbox": "f", "combobox": "fbg", "checkbox": "c", "radio": "c",
    "switch": "c", "searchbox": "f", "row": "i",
    "slider": "v", "option": "i", "menuitem": "bi", "tab": "bi", "treeitem": "i", "spinbutton": "f",
    "listbox": "bs", "file": "b",
}  # fmt: skip
"""Of Handrail's refs, by the role that a step names."""
ROLES = {
    "button": "button",
    "slider": "slider",
    "option": "list_item",
    "treeitem": "list_item",
    "radio": "radio_button",
}
"""What Handrail calls some roles."""
count = openai.o200k_base().count


class Failed(Exception):
    """A peer said that it could not do a step."""


class Peer:
    """One server over MCP, its last texts, and what it cost."""

    name = ""

    def __init__(self, server: Mcp) -> None:
        self.server = server
        self.tokens = 0
        self.spent_ms = 0.0
        self.text = ""
        self.log: list[str] = []

    def call(self, tool: str, **arguments: Any) -> str:
        began = time.perf_counter()
        reply = self.server._ask("tools/call", name=tool, arguments=arguments)
        self.spent_ms += (time.perf_counter() - began) * 1000
        if "result" not in reply:
            raise Failed(str(reply.get("error"))[:300])
        text = "\n".join(block.get("text", "") for block in reply["result"]["content"])
        self.tokens += count(json.dumps(arguments)) + count(text)
        self.log.append(f"> {tool} {json.dumps(arguments)}\n{text}")
        if reply["result"].get("isError"):
            raise Failed(text[:300])
        return text

    def start(self, url: str) -> None:
        self.log.clear()
        self.text = ""
        self.open(url)
        self.tokens, self.spent_ms = 0, 0.0

    def ref(self, step: Step) -> Any:
        """The ref of the step's target in the last answer, else in a new look."""
        found = self.find(step) if self.text and not step.nth else ""
        if not found:
            self.text = self.look()
            found = self.find(step)
        if not found:
            found = self.reach(step)
        return found

    def do(self, step: Step) -> None:
        self.text = getattr(self, step.kind)(step)

    def open(self, url: str) -> None:
        raise NotImplementedError

    def look(self) -> str:
        raise NotImplementedError

    def find(self, step: Step) -> str:
        raise NotImplementedError

    def reach(self, step: Step) -> Any:
        raise Failed(f"{step.words!r} is not in what was read")

    def ranked(self, step: Step, labels: Iterable[tuple[str, str, bool]]) -> str:
        """By `(ref, label, is_of_the_role)`: the exact label first, then its beginning, then any part.

        Last comes the only one of the role that has no label.
        """
        best: dict[int, list[str]] = {}
        nameless = []
        for ref, label, fits in labels:
            words, own = step.words.lower(), label.lower().strip()
            rank = 0 if own == words else 1 if own.startswith(words) else 2 if words in own else 4
            if fits and step.role and not own:
                nameless.append(ref)
            if rank < 4 and (fits or rank == 0):  # of another role only what is called just so
                best.setdefault(rank + (0 if fits else 4), []).append(ref)
        for rank in sorted(best):
            if step.nth < len(best[rank]):
                return best[rank][step.nth]
        return nameless[0] if len(nameless) == 1 else ""


class Ours(Peer):
    """Handrail's tools for a browser."""

    name = "Handrail"
    line = re.compile(r"^[\s+~]*(@[a-z]+\d+)(?:-\d+)? (.*)$")

    def open(self, url: str) -> None:
        self.call("run_flow", steps=json.dumps([{"open_url": url}]), reason="bench")

    def look(self) -> str:
        return self.call("get_ui_tree")

    def find(self, step: Step) -> str:
        letters = LETTERS.get(step.role, "")
        if step.role == "listbox" and (shown := self.text.partition(f'pane "{step.words}"')[2]):
            return next(ref for line in shown.splitlines() if (ref := self._labelled(line)[0]))
        return self.ranked(
            step,
            (
                (ref, label, not letters or ref[1] in letters)
                for ref, label in map(self._labelled, self.text.splitlines())
                if ref
            ),
        )

    def _labelled(self, line: str) -> tuple[str, str]:
        found = self.line.match(line)
        if found is None:
            return "", ""
        rest = found[2]
        if quoted := re.match(r'"((?:[^"\\]|\\.)*)"', rest):
            return found[1], quoted[1]
        return found[1], rest

    def reach(self, step: Step) -> Any:
        """What has no ref is named by its words; what is out of sight is scrolled to."""
        if role := ROLES.get(step.role, "" if step.words.lower() in self.text.lower() else "any"):
            words = {"text_contains": step.words, "index": step.nth}
            self.act("scroll_to", target=words if role == "any" else {**words, "role": role})
            self.text = self.look()
            if found := self.find(step):
                return found
        return {"text": step.words, "index": step.nth} if step.nth else step.words

    def act(self, tool: str, **arguments: Any) -> str:
        try:
            return self.call(tool, **arguments, reason="bench")
        except Failed as refusal:  # it lists the candidates: the first one
            target = arguments.get("target")
            if "AMBIGUOUS_TARGET" not in str(refusal) or not isinstance(target, str):
                raise
            return self.call(tool, **{**arguments, "target": {"text": target, "index": 0}}, reason="bench")

    def tap(self, step: Step) -> str:
        return self.act("tap", target=self.ref(step), **step.fields)

    def double(self, step: Step) -> str:
        return self.act("double_tap", target=self.ref(step))

    def hover(self, step: Step) -> str:
        return self.act("hover", target=self.ref(step))

    def type(self, step: Step) -> str:
        target = {"target": self.ref(step)} if step.words or step.role else {}
        more = {key: step.fields[key] for key in ("submit", "clear") if key in step.fields}
        if not target:
            more["how"] = "keys"
        return self.act("type_text", text=step.value, **target, **more)

    def keys(self, step: Step) -> str:
        text = ""
        for key in step.value:
            names = {"control": "ctrl", "home": "move_home", "end": "move_end", "pageup": "page_up"}
            chord = [names.get(name, name).removeprefix("arrow") for name in key.lower().split("+")]
            if len(chord) > 1:
                text = self.act("press_keys", keys=chord)
            else:
                text = self.act("press_key", key=chord[0])
        return text

    def set(self, step: Step) -> str:
        return self.act("set_value", target=self.ref(step), value=step.value)

    def drag(self, step: Step) -> str:
        start, end = self.ref(step), self.ref(step.to)
        return self.act("drag", **{"from": start, "to": end})

    def upload(self, step: Step) -> str:
        if step.role == "button":  # it asks for the file
            self.act("tap", target=self.ref(step))
        return self.act("set_value", target=self.ref(step), value=step.value)

    def answer(self, step: Step) -> str:
        if step.value is not None:
            self.act("type_text", text=step.value, clear=True)
        self.text = self.look()
        return self.act("tap", target=self.ref(step))

    def tab(self, _: Step) -> str:
        return self.look()  # a tab that a page opens is in front

    def scroll(self, step: Step) -> str:
        return self.act("scroll_to", target=step.words)

    def back(self, _: Step) -> str:
        return self.act("press_key", key="back")

    def wait(self, step: Step) -> str:
        return self.call("wait_for", visible=step.words)

    def reads(self, step: Step) -> str:
        self.text = self.look()
        if step.words.lower() not in self.text.lower():
            raise Failed(f"{step.words!r} was not read")
        return self.text


class Theirs(Peer):
    """@playwright/mcp."""

    name = "Playwright MCP"
    line = re.compile(r'^\s*- (?:<changed> )?\'?(\w+)(?: "((?:[^"\\]|\\.)*)")?(.*?)\[ref=(\w+)\](.*)$')

    def open(self, url: str) -> None:
        self.call("browser_navigate", url=url)

    def look(self) -> str:
        return self.call("browser_snapshot")

    def find(self, step: Step) -> str:
        if "[ref=" not in self.text:
            return ""
        labels = []
        for line in self.text.splitlines():
            if found := self.line.match(line):
                role, name, ref, rest = found[1], found[2] or "", found[4], found[5]
                label = name.replace('\\"', '"') or rest.rpartition(": ")[2].strip().strip("\"'")
                fits = not step.role or role == step.role or (step.role == "file" and role == "button")
                labels.append((ref, label, fits))
        return self.ranked(step, labels)

    def target(self, step: Step) -> dict[str, str]:
        return {"element": step.words, "target": self.ref(step)}

    def tap(self, step: Step) -> str:
        more = dict(step.fields)
        if "modifiers" in more:
            names = {"ctrl": "Control", "shift": "Shift", "alt": "Alt", "meta": "Meta"}
            more["modifiers"] = [names[one] for one in more["modifiers"]]
        return self.call("browser_click", **self.target(step), **more)

    def double(self, step: Step) -> str:
        return self.call("browser_click", **self.target(step), doubleClick=True)

    def hover(self, step: Step) -> str:
        return self.call("browser_hover", **self.target(step))

    def type(self, step: Step) -> str:
        more = {"submit": True} if step.fields.get("submit") else {}
        if step.fields.get("slowly"):
            more["slowly"] = True
        if not step.words and not step.role:
            for character in step.value:
                self.call("browser_press_key", key="Enter" if character == "\n" else character)
            return ""
        return self.call("browser_type", **self.target(step), text=step.value, **more)

    def keys(self, step: Step) -> str:
        text = ""
        for key in step.value:
            text = self.call("browser_press_key", key="Backspace" if key == "Delete" else key)
        return text

    def set(self, step: Step) -> str:
        if step.role in ("slider", "date", "color"):
            return self.call("browser_type", **self.target(step), text=str(step.value))
        values = step.value if isinstance(step.value, list) else [step.value]
        return self.call("browser_select_option", **self.target(step), values=values)

    def drag(self, step: Step) -> str:
        start, end = self.ref(step), self.ref(step.to)
        words = {"startElement": step.words, "endElement": step.to.words}
        return self.call("browser_drag", startTarget=start, endTarget=end, **words)

    def upload(self, step: Step) -> str:
        self.call("browser_click", **self.target(step))
        return self.call("browser_file_upload", paths=[step.value])

    def answer(self, step: Step) -> str:
        more = {"promptText": step.value} if step.value is not None else {}
        return self.call("browser_handle_dialog", accept=step.words in ("OK", "Leave"), **more)

    def tab(self, step: Step) -> str:
        return self.call("browser_tabs", action="select", index=step.nth)

    def scroll(self, step: Step) -> str:
        return self.call("browser_hover", **self.target(step))

    def back(self, _: Step) -> str:
        return self.call("browser_navigate_back")

    def wait(self, step: Step) -> str:
        return self.call("browser_wait_for", text=step.words)

    def reads(self, step: Step) -> str:
        self.text = self.look()
        if step.words.lower() not in self.text.lower():
            raise Failed(f"{step.words!r} was not read")
        return self.text


@dataclass
class Outcome:
    """Of one case by one peer."""

    is_done: bool
    refusal: str
    """What the peer said that it could not do; "" if it said that all was done."""
    worth: Any
    tokens: int
    ms: float
    log: list[str] = field(default_factory=list)

    @property
    def is_wrong(self) -> bool:
        return not self.is_done and not self.refusal

    @property
    def mark(self) -> str:
        return "done" if self.is_done else "WRONG" if self.is_wrong else "failed"


def attempt(peer: Peer, site: StrangersSite, case: Case) -> Outcome:
    site.posted.clear()
    site.judges.clear()
    refusal = ""
    try:
        peer.start(site.url(case.path))
        for step in case.steps:
            peer.do(step)
    except Failed as error:
        refusal = str(error) or "failed"
    is_done, worth = site.holds(case.holds)
    return Outcome(is_done and not refusal, refusal, worth, peer.tokens, peer.spent_ms, list(peer.log))


def ours(folder: Path, scratch: Path, ends: ExitStack) -> Peer:
    del folder
    home = scratch / "ours"
    config = home / "config"
    config.mkdir(parents=True, mode=0o700)
    home.chmod(0o700)
    rules = [
        'known_hosts = ["127.0.0.1"]', f'uploads = ["{home.parent}/*"]', 'downloads = ["http://127.0.0.1:*"]',
        '[[rule]]\nname = "all"\nverdict = "allow"',
    ]  # fmt: skip
    (config / "policy.toml").write_text("\n".join(rules) + "\n")
    env = {**os.environ, "HANDRAIL_HOME": str(home), "HANDRAIL_NO_DAEMON": "1", MARK: str(home)}
    return _ending(Ours(Mcp([*HANDRAIL, "mcp", "--device", "browser:bench"], env)), home, ends)


def theirs(folder: Path, scratch: Path, ends: ExitStack) -> Peer:
    home = scratch / "theirs"
    script = folder / "node_modules" / "@playwright" / "mcp" / "cli.js"
    words = ["--headless", "--isolated", "--no-sandbox", "--executable-path", find_browser(os.environ)]
    words += ["--output-dir", str(home.parent / "theirs"), "--viewport-size", "1280x800"]
    words += ["--allow-unrestricted-file-access"]
    return _ending(Theirs(Mcp(["node", str(script), *words], {**os.environ, MARK: str(home)})), home, ends)


def _ending(peer: Peer, home: Path, ends: ExitStack) -> Peer:
    """With its server, and the browser that this would keep, ended."""

    def end() -> None:
        with suppress(subprocess.TimeoutExpired):
            peer.server.close()
        end_descendants(str(home))

    ends.callback(end)
    return peer


SIDES: dict[str, Callable[[Path, Path, ExitStack], Peer]] = {"ours": ours, "theirs": theirs}


def tell(words: str) -> None:
    print(words, flush=True)


def report(outcomes: dict[str, dict[str, Outcome]], cases: list[Case]) -> None:
    pages = len({case.path for case in cases})
    tell(f"\n{len(cases)} interactions on {pages} pages")
    both = [row for row in outcomes.values() if len(row) > 1 and all(one.is_done for one in row.values())]
    names = list(next(iter(outcomes.values())))
    for name in names:
        mine = [row[name] for row in outcomes.values()]
        done = sum(one.is_done for one in mine)
        wrong = sum(one.is_wrong for one in mine)
        compared = [row[name] for row in both] or mine
        tokens, ms = sum(one.tokens for one in compared), sum(one.ms for one in compared)
        middle = statistics.median(one.ms for one in compared)
        tell(
            f"{name:<16} done {done}, said done and was not {wrong}, tokens {tokens:,}, "
            f"{ms / 1000:.1f} s (median {middle:.0f} ms) where all were done"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name has these words")
    parser.add_argument("--peer", choices=("ours", "theirs"))
    parser.add_argument("--minutes", type=float, default=120.0, help="after which no further case begins")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--verbose", action="store_true", help="all that was said, where it was not done")
    options = parser.parse_args()
    folder = Path(os.environ.get(VARIABLE) or "/nowhere")
    if not folder.is_dir():
        tell(f"nothing was measured: set {VARIABLE}")
        return 0
    wanted = re.compile(options.only)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        upload = Path(scratch) / "letter.txt"
        upload.write_text("Dear reader\n")
        cases = [case.with_file(str(upload)) for case in CASES if wanted.search(case.name)]
        random.Random(7).shuffle(cases)  # so that a run that is cut short has some of all
        cases.sort(key=lambda case: LAST.index(case.name) if case.name in LAST else -1)
        outcomes: dict[str, dict[str, Outcome]] = {}
        with strangers_site(folder, BODIES) as site, ExitStack() as ends:
            peers = [
                side(folder, Path(scratch), ends)
                for name, side in SIDES.items()
                if options.peer in (None, name)
            ]
            end = time.monotonic() + options.minutes * 60
            for case in cases:
                if time.monotonic() > end:
                    break
                outcomes[case.name] = {}
                for peer in peers if len(outcomes) % 2 else peers[::-1]:
                    outcomes[case.name][peer.name] = run(peer, site, case, verbose=options.verbose)
    cases = [case for case in cases if case.name in outcomes]
    report(outcomes, cases)
    if options.json:
        rows = {
            name: {peer: {**vars(one), "log": [], "mark": one.mark} for peer, one in row.items()}
            for name, row in outcomes.items()
        }
        options.json.write_text(json.dumps(rows, indent=1))
    return 0


def run(peer: Peer, site: StrangersSite, case: Case, *, verbose: bool) -> Outcome:
    outcome = attempt(peer, site, case)
    why = outcome.refusal.replace("\n", " ")[:160] or f"worth {outcome.worth!r}"
    tell(
        f"{peer.name:<15} {outcome.mark:<6} {outcome.tokens:>6} tk {outcome.ms:>6.0f} ms  {case.name}"
        + ("" if outcome.is_done else f"  — {why}")
    )
    if verbose and not outcome.is_done:
        tell("\n".join(outcome.log))
    return outcome


if __name__ == "__main__":
    sys.exit(main())
