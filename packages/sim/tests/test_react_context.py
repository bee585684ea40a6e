"""The JavaScript of the React lab: nothing that a script does stops the phone or reaches another context."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest

from handrail_sim.channels.react import Runtime, ScriptStopped
from tests.hand import Hand

REACT = "com.handrail.reactlab"


def context(hand: Hand | None = None) -> Runtime:
    return Runtime((hand or Hand(apps=["react_lab"])).phone, REACT)


def answer(runtime: Runtime, source: str) -> Any:
    told = runtime.evaluate(source, by_value=True, wait=False)
    return told.get("exceptionDetails", told["result"]).get("exception", told["result"])


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("undefined", {"type": "undefined"}),
        ("null", {"type": "object", "subtype": "null", "value": None}),
        ("-0", {"type": "number", "unserializableValue": "-0", "description": "-0"}),
        ("10n", {"type": "bigint", "unserializableValue": "10n", "description": "10n"}),
        ("Symbol('a')", {"type": "symbol", "description": "Symbol(a)"}),
        ("'\\ud800'", {"type": "string", "value": "\ud800"}),
        ("() => 1", {"type": "function", "value": {}}),
        ("({a: [1, undefined], b: new Date(0)})",
         {"type": "object", "value": {"a": [1, None], "b": "1970-01-01T00:00:00.000Z"}}),
    ],
)  # fmt: skip
def test_a_value_is_told_as_a_debugger_expects_it(source: str, wanted: Any) -> None:
    assert answer(context(), source) == wanted


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("throw new Error('boo')", "Error: boo"),
        ("nobody", "ReferenceError: nobody is not defined"),
        ("1 +", "SyntaxError"),
        ("(function f() { f() })()", "RangeError: Maximum call stack size exceeded"),
        ("var loop = {}; loop.self = loop; loop", "TypeError: circular reference"),
        ("'x'.repeat(1e9)", "out of memory"),
        ("for (;;) { setTimeout(() => {}, 1) }", "RangeError: too much is asked for"),
        ("throw {toString() { throw 1 }, constructor: null}", "Object"),
    ],
)
def test_what_fails_is_told_and_the_context_goes_on(source: str, said: str) -> None:
    runtime = context()
    assert said in answer(runtime, source)["description"]
    assert answer(runtime, "1 + 1") == {"type": "number", "value": 2}


def test_a_script_that_never_ends_is_stopped() -> None:
    runtime = context()
    with pytest.raises(ScriptStopped, match="interrupted"):
        runtime.evaluate("while (true) {}", by_value=True, wait=False)
    assert answer(runtime, "1 + 1")["value"] == 2


@pytest.mark.parametrize(
    "sabotage",
    [
        "JSON.stringify = () => { throw 1 }; Promise = Map = Set = Object = undefined",
        "Array.prototype.push = Array.prototype.splice = Array.prototype.map = () => { throw 1 }",
        "Object.prototype.toJSON = () => 'nonsense'",
        "for (const name of Object.getOwnPropertyNames(globalThis)) { delete globalThis[name] }",
        "(function again() { Promise.resolve().then(again) })()",
    ],
)
def test_who_breaks_the_context_breaks_no_phone(sabotage: str) -> None:
    hand = Hand(apps=["react_lab"])
    runtime = context(hand)
    for source in (sabotage, "setTimeout(() => console.log('x'), 1)", "1 + 1"):
        try:
            runtime.evaluate(source, by_value=True, wait=False)
        except ScriptStopped:
            continue
    runtime.fetch("https://harbour.example/feed")
    asyncio.run(hand.wait(50))
    assert "launcher" in hand.phone.dump()
    assert answer(context(hand), "[1].map(one => one + 1)")["value"] == [2]


def test_promises_go_on_after_the_visit_that_made_them() -> None:
    runtime = context()
    answer(runtime, "var seen = []; Promise.resolve(1).then(v => { seen.push(v); throw 2 }); 0")
    assert answer(runtime, "seen")["value"] == [1]
    waiting = runtime.evaluate("Promise.reject(new Error('no'))", by_value=True, wait=True)
    told = runtime.settled(waiting["awaited"])
    assert told is not None
    assert "Error: no" in told["exceptionDetails"]["exception"]["description"]
    assert runtime.settled(waiting["awaited"]) is None


def test_time_and_chance_are_the_phones() -> None:
    runs = []
    for _ in range(2):
        hand = Hand(apps=["react_lab"])
        runtime = context(hand)
        assert answer(runtime, "[Date.now(), new Date().getTime(), performance.now()]")["value"] == [
            hand.phone.wall_ms(),
            hand.phone.wall_ms(),
            hand.phone.now_ms(),
        ]
        runs.append(answer(runtime, "[Math.random(), Math.random()]")["value"])
    assert runs[0] == runs[1]
    assert 0 <= runs[0][0] < 1


def test_two_contexts_share_nothing() -> None:
    one, other = context(), context()
    answer(one, "Array.prototype.mine = 1; globalThis.here = 1")
    assert answer(other, "typeof [].mine + typeof here")["value"] == "undefinedundefined"


def test_without_the_engine_the_app_is_a_release_build_and_the_log_says_why() -> None:
    program = f"""
import asyncio, sys
sys.modules["_quickjs"] = sys.modules["quickjs"] = None
from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
phone = Phone(clock=ManualClock(), apps=["react_lab"])
for _ in range(2):
    phone.start_activity(package="{REACT}")
    x, y = phone.display.width - 60, 180
    asyncio.run(phone.tap(x, y))
    phone.force_stop("{REACT}")
print(list(phone.ports))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.replace("'", '"')) == []
    assert done.stderr.count("pip install 'handrail-sim[js]'") == 1
