"""What the MCP server costs in tokens (o200k): its definitions by profile, and a task of twelve steps.

The task is done call by call, once more as one flow, and, where HANDRAIL_MOBILE_MCP names the peer's
`lib/index.js` (1 fetches it by npx), by @mobilenext/mobile-mcp on a phone of the same kind: an act and a list
of the elements for each step, which is what it takes to see what Handrail's answer tells.
Run from the repository: `python bench/tokens.py [--json] [--legacy]`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rs_bpe.bpe import openai

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.doors import HANDRAIL, MARK, Mcp, adb_server, end_descendants, phone, their_place  # noqa: E402

from handrail.mcp_server.server import INSTRUCTIONS, listed_tool  # noqa: E402
from handrail.mcp_server.tools import PROFILES, tools_of_profile  # noqa: E402

GOALS = {"core": 2_400}
CONTACTS = "com.google.android.contacts"
FIELDS = {
    "First name": "Ada",
    "Last name": "Lovelace",
    "Company": "Analytical Engines",
    "Phone": "020 7946 0000",
    "Email": "ada@example.org",
}
NAME = "Ada Lovelace"
STEPS: list[dict[str, Any]] = [
    {"start_app": {"package": CONTACTS}},
    {"tap": {"target": "Create new contact"}},
    *({"type_text": {"text": text, "target": field}} for field, text in FIELDS.items()),
    {"tap": {"target": "Save"}},
    {"expect": {"visible": NAME}},
    {"press_key": {"key": "back"}},
    {"tap": {"target": {"text_contains": NAME}}},
    {"expect": {"visible": FIELDS["Phone"]}},
]
count = openai.o200k_base().count


@dataclass(frozen=True)
class Cost:
    """Of one way to do the task."""

    definitions: int
    calls: int
    spoken: int
    """Arguments and answers."""

    @property
    def total(self) -> int:
        return self.definitions + self.spoken


def main() -> None:
    options = arguments().parse_args()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="handrail-bench-")))
        costs = {
            "handrail, call by call": ours(home / "calls"),
            "handrail, one flow": ours(home / "flow", True),
        }
        if path := os.environ.get("HANDRAIL_MOBILE_MCP"):
            mode = "legacy" if options.legacy else "mobilecli"
            costs[f"mobile-mcp ({mode})"] = theirs(home, path, legacy=options.legacy)
    profiles = {name: definitions(name) for name in (*PROFILES, "interaction", "mobile_debug", "agentest")}
    print(as_json(profiles, costs) if options.json else "\n".join(table(profiles, costs)))


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--legacy", action="store_true", help="the peer's older mode, plain adb")
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    return parser


def definitions(profile: str) -> tuple[int, int]:
    """How many tools, and what their list costs."""
    made = tools_of_profile(profile)
    wire = [listed_tool(one).model_dump(by_alias=True, exclude_none=True, mode="json") for one in made]
    return len(made), size({"tools": wire})


def size(value: Any) -> int:
    return int(count(json.dumps(value, ensure_ascii=False, separators=(",", ":"))))


def ours(home: Path, as_flow: bool = False) -> Cost:
    """Refs stand for elements as a model would use them; reasons are part of the price."""
    with phone() as address:
        env = {
            **os.environ,
            "HANDRAIL_HOME": str(home),
            "HANDRAIL_DEVICE": address,
            "HANDRAIL_HELPER": "none",
        }
        server = Mcp([*HANDRAIL, "mcp"], env)
        try:
            price = size(server._ask("tools/list")["result"]["tools"]) + count(INSTRUCTIONS)
            if as_flow:
                steps = [{_native(name, given): given for name, given in step.items()} for step in STEPS]
                server.tool("run_flow", steps=steps, reason="I create the contact and check it")
                return Cost(price, 1, server.tokens)
            for step in STEPS:
                [(name, given)] = step.items()
                reason = {} if name == "expect" else {"reason": f"I {name} to create the contact"}
                server.tool(name, **given, **reason)
            return Cost(price, len(STEPS), server.tokens)
        finally:
            server.close()


def _native(name: str, given: dict[str, Any]) -> str:
    """A flow has the vocabulary's own checks."""
    if name == "expect":
        given["target"] = given.pop("visible")
        return "expect_visible"
    return name


def theirs(home: Path, path: str, *, legacy: bool) -> Cost:
    with phone() as address, adb_server(home, address) as env:
        env |= {"MOBILEMCP_DISABLE_TELEMETRY": "1", "MOBILEMCP_LEGACY_ROBOT": "1" if legacy else ""}
        server = Mcp(["npx", "-y", "@mobilenext/mobile-mcp"] if path == "1" else ["node", path], env)
        try:
            price = size(server._ask("tools/list")["result"]["tools"])
            return Cost(price, Peer(server, address).task(), server.tokens)
        finally:
            server.close()
            end_descendants(env[MARK])


class Peer:
    """The same task by clicks and lists."""

    def __init__(self, server: Mcp, device: str) -> None:
        self._server = server
        self._device = device
        self._shown = ""
        self._calls = 0

    def task(self) -> int:
        """How many calls it took."""
        self._do("mobile_launch_app", packageName=CONTACTS)
        self._click("Create new contact")
        for field, text in FIELDS.items():
            self._call("mobile_click_on_screen_at_coordinates", **their_place(self._shown, _id(field)))
            self._do("mobile_type_keys", text=text, submit=False)
        self._click("Save")
        self._check(NAME)  # in the list that the click was answered with: no call of its own
        self._do("mobile_press_button", button="BACK")
        self._click(NAME)
        self._check(FIELDS["Phone"])
        return self._calls

    def _click(self, label: str) -> None:
        self._do("mobile_click_on_screen_at_coordinates", **their_place(self._shown, label))

    def _do(self, name: str, **arguments: Any) -> None:
        self._call(name, **arguments)
        self._shown = self._call("mobile_list_elements_on_screen")

    def _call(self, name: str, **arguments: Any) -> str:
        self._calls += 1
        return self._server.tool(name, device=self._device, **arguments)

    def _check(self, words: str) -> None:
        if words not in self._shown:
            raise SystemExit(f"the peer does not see {words!r} in:\n{self._shown}")


def _id(field: str) -> str:
    """Its list has no hints: an empty field is known by its id alone."""
    return f"{CONTACTS}:id/{field.split(maxsplit=1)[0].lower()}"


def as_json(profiles: dict[str, tuple[int, int]], costs: dict[str, Cost]) -> str:
    told = {name: {"tools": number, "tokens": tokens} for name, (number, tokens) in profiles.items()}
    task = {who: {**vars(cost), "total": cost.total} for who, cost in costs.items()}
    return json.dumps({"profiles": told, "task": task}, indent=1)


def table(profiles: dict[str, tuple[int, int]], costs: dict[str, Cost]) -> Iterator[str]:
    yield f"{'definitions':<28}{'tools_of_profile':>7}{'tokens':>9}{'goal':>9}"
    for name, (number, tokens) in profiles.items():
        goal = f"≤ {GOALS[name]:,}" if name in GOALS else ""
        yield f"{name:<28}{number:>7}{tokens:>9,}{goal:>9}"
    yield ""
    yield f"{'a contact, 12 steps':<28}{'calls':>7}{'defined':>9}{'spoken':>9}{'total':>9}"
    for who, cost in costs.items():
        yield f"{who:<28}{cost.calls:>7}{cost.definitions:>9,}{cost.spoken:>9,}{cost.total:>9,}"


if __name__ == "__main__":
    main()
