"""Scripts of flows: what they can do, and that whatever they try ends with a code and leaves nothing."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from handrail.errors import ScriptFailed
from handrail_maestro.files import Workspace
from handrail_maestro.http_calls import HttpCalls
from handrail_maestro.play import Play
from handrail_maestro.scripts import Scripts, no_http

T = TypeVar("T")
LONGEST_S = 6.0
PIN = "7431-very-secret"
MADE = "${String.fromCharCode(36) + '{secret:PIN}'}"
"""Code that makes what would name a secret."""


def run(work: Callable[[Scripts], Awaitable[T]], http: Any = no_http) -> T:
    async def bounded() -> T:
        scripts = Scripts(http)
        try:
            return await work(scripts)
        finally:
            await scripts.close()

    return asyncio.run(bounded())


def test_the_last_expression_is_the_value_and_names_nobody_gave_are_undefined() -> None:
    async def work(scripts: Scripts) -> list[str]:
        codes = (
            "1 + 1",
            "let a = 2; a * 3",
            "NOPE",
            "X + NOPE",
            "typeof a",
            "null",
            "`${X}!`",
            "text",
            "call",
        )
        return [await scripts.evaluate(code, {"X": "x"}) for code in codes]

    assert run(work) == [
        "2",
        "6",
        "undefined",
        "xundefined",
        "undefined",
        "null",
        "x!",
        "undefined",
        "undefined",
    ]


def test_output_keeps_functions_and_a_scope_that_ended_is_gone() -> None:
    async def work(scripts: Scripts) -> list[str]:
        await scripts.evaluate("output.add = (a, b) => a + b + Number(N)", {"N": "1"})
        scripts.copied("copied")
        return [
            await scripts.evaluate("output.add(1, 2)", {"N": "10"}),
            await scripts.evaluate("typeof N + maestro.copiedText + maestro.platform", {}),
            await scripts.evaluate("maestro.copiedText = 'mine'; maestro.copiedText", {}),
            await scripts.evaluate("json('[1, 2]').length + relativePoint(0.5, 0.251)", {}),
        ]

    assert run(work) == ["13", "undefinedcopiedandroid", "mine", "250%,26%"]


def test_what_a_script_prints_is_kept() -> None:
    async def work(scripts: Scripts) -> list[str]:
        await scripts.evaluate("console.log('a', {b: 1})", {})
        return list(scripts.log)

    assert run(work) == ['a {"b":1}']


def test_half_of_a_surrogate_pair_is_a_failure_and_the_next_script_runs() -> None:
    async def work(scripts: Scripts) -> str:
        with pytest.raises(ScriptFailed):
            await scripts.evaluate("'\\ud800x'", {})
        return await scripts.evaluate("1 + 1", {})

    assert run(work) == "2"


ENDLESS = {
    "endless loop": "while (true) {}",
    "endless pattern": "/(a+)+b/.test('a'.repeat(64))",
    "endless getter": "output.x = {get y() { for (;;) {} }}; output.x.y",
    "endless text": "String({toString() { for (;;) {} }})",
    "endless promise": "(function f() { Promise.resolve().then(f) })(); for (;;) {}",
}
REFUSED = {
    "recursion": "(function f() { f() })()",
    "deep recursion in a sort": "const f = () => [2, 1].sort(f); f()",
    "a string of 1 GB": "'x'.repeat(1 << 30)",
    "a string that doubles": "let a = 'x'.repeat(1 << 20); for (;;) a += a",
    "an array of 1 GB": "new Uint8Array(1 << 30).length",
    "many arrays": "const a = []; for (;;) a.push(new Array(100000).fill(1))",
    "a result that is too long": "'x'.repeat(2000000)",
    "no text": "Object.create(null)",
    "a module": "import fs from 'fs'",
    "require": "require('fs').readFileSync('/etc/passwd', 'utf8')",
    "std": "std.loadFile('/etc/passwd').length",
    "os": "os.exec(['/bin/sh', '-c', 'id']).length",
    "process": "process.env.HOME.length",
    "python": "globalThis.constructor.constructor('return __call')().toString()",
    "a file by fetch": "fetch('file:///etc/passwd').length",
    "loopback": "http.get('http://127.0.0.1:1/').status",
    "a file by http": "http.get('file:///etc/passwd').status",
    "the metadata host": "http.get('http://169.254.169.254/latest').status",
    "a call that is none": "http.request({toString() { throw new Error('no') }})",
    "faker": "faker.name().firstName()",
}
HARMLESS = {
    "prototype of Object": "Object.prototype.polluted = 1; ({}).polluted",
    "other JSON": "JSON = {stringify: () => '{\"http\": 1}', parse: () => 1}; output.x = 1",
    "other String": "String = () => 'mine'; 5",
    "prototype of String": "String.prototype.toString = () => 'mine'; 'x'",
    "a name of the protocol": "output.http = 'x'; console.log('{\"text\": \"y\"}'); 2",
}


def ended(code: str) -> tuple[str, float, int | None]:
    """How it ended, how long it took, and the process that is left."""

    async def bounded() -> tuple[str, float, int | None]:
        scripts = Scripts(HttpCalls(Workspace(Path("/nowhere"))))
        began = time.monotonic()
        try:
            await scripts.evaluate("1", {})
            process = scripts._process
            assert process is not None
            try:
                said = await scripts.evaluate(code, {"NAME": "value"})
            except ScriptFailed as error:
                said = f"{error.code}: {error.message}"
        finally:
            await scripts.close()
        left = process.pid if process.returncode is None or _is_alive(process.pid) else None
        return said, time.monotonic() - began, left

    return asyncio.run(bounded())


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDLESS)
def test_a_script_without_an_end_is_ended(name: str) -> None:
    said, took, left = ended(ENDLESS[name])
    assert said.startswith("SCRIPT_FAILED: ")
    assert took < LONGEST_S
    assert left is None


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_script_gets_nothing_but_a_code(name: str) -> None:
    said, took, left = ended(REFUSED[name])
    assert said.startswith("SCRIPT_FAILED: "), said
    assert took < LONGEST_S
    assert left is None


@pytest.mark.parametrize("name", HARMLESS)
def test_a_script_that_bends_its_own_world_bends_nothing_else(name: str) -> None:
    async def work(scripts: Scripts) -> str:
        await scripts.evaluate(HARMLESS[name], {})
        return await scripts.evaluate("1 + 1 + Number(N)", {"N": "3"})

    assert run(work) == "5"


def test_the_process_has_no_environment_and_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_SECRET_PIN", PIN)

    async def work(scripts: Scripts) -> tuple[bytes, str]:
        await scripts.evaluate("1", {})
        assert scripts._process is not None
        there = Path(f"/proc/{scripts._process.pid}")
        return (there / "environ").read_bytes(), (there / "limits").read_text()

    environment, limits = run(work)
    assert environment == b""
    for row in ("Max open files            0", "Max processes             0", "Max file size             0"):
        assert row in limits


def test_a_variable_that_stands_for_a_secret_is_none_of_a_script() -> None:
    async def work(scripts: Scripts) -> list[str]:
        play = Play(Workspace(Path("/nowhere")), scripts, Path("/nowhere"))
        play.scopes.append({"PASS": "${secret:PIN}", "PLAIN": "x"})
        typed = [
            await play.filled("${PASS}", secrets=True),
            await play.filled("a${secret:PIN}", secrets=True),
        ]
        for text in ("${PASS}", "${secret:PIN}", MADE, "\\${secret:PIN}"):
            with pytest.raises(ScriptFailed):
                await play.filled(text)
        for text in (MADE, "\\${secret:PIN}"):  # nor where one may be typed
            with pytest.raises(ScriptFailed):
                await play.filled(text, secrets=True)
        return [*typed, await play.filled("${typeof PASS + PLAIN}")]

    assert run(work) == ["${secret:PIN}", "a${secret:PIN}", "undefinedx"]


def test_a_parent_that_is_cancelled_leaves_no_process() -> None:
    async def story() -> int:
        scripts = Scripts()
        await scripts.evaluate("1", {})
        assert scripts._process is not None
        pid = scripts._process.pid
        task = asyncio.create_task(scripts.evaluate("for (;;) {}", {}))
        await asyncio.wait({task}, timeout=0.2)
        task.cancel()
        await asyncio.wait({task})
        return pid

    assert not _is_alive(asyncio.run(story()))
