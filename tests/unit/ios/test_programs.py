"""Programs beside WebDriverAgent: what they complain of is told in words."""

from __future__ import annotations

from pathlib import Path

from handrail.errors import IosCommandError, Unsupported
from handrail.ios.programs import GoIos, read_simulators
from tests.cases import each
from tests.scenario.world import play_live, usual_clock

WARNING = '{"level":"WARN","msg":"go-ios agent is not running"}'
FATAL = '{"level":"fatal","msg":"failed connecting","err":"tunnel is not up"}'
ADVICE = '{"level":"INFO","msg":"first device"}'


def complaint(folder: Path, *lines: str, code: int = 1) -> str:
    program = folder / "ios"
    said = "\n".join(lines)
    program.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{said}\nEND\nexit {code}\n")
    program.chmod(0o755)

    async def run() -> str:
        go_ios = GoIos("UDID", {"PATH": f"{folder}:/usr/bin:/bin"}, usual_clock())
        try:
            await go_ios.run("apps")
        except IosCommandError as error:
            return error.message
        return ""

    return play_live(run())


@each(
    "lines, told",
    [
        ((WARNING, FATAL), "failed connecting: tunnel is not up"),
        ((WARNING, FATAL, ADVICE), "failed connecting: tunnel is not up"),
        (
            (ADVICE, "panic: runtime error: nil pointer", "goroutine 1", "main.go:57 +0xf"),
            "panic: runtime error",
        ),
        (("no such device",), "no such device"),
        ((ADVICE,), "exit code 1"),
        ((), "exit code 1"),
    ],
)
def test_what_go_ios_complains_of_is_told_in_words(tmp_path: Path, lines: tuple[str, ...], told: str) -> None:
    assert told in complaint(tmp_path, *lines)


def test_a_missing_go_ios_is_unsupported_with_what_to_install() -> None:
    async def run() -> str:
        try:
            await GoIos("UDID", {"PATH": ""}, usual_clock()).run("apps")
        except Unsupported as error:
            return f"{error.message} {error.hint} {error.delivery}"
        return ""

    assert play_live(run()).endswith("not_delivered")


@each(
    "listed, usable",
    [
        ('[{"udid": "A", "isAvailable": true, "name": "iPhone"}]', ["iPhone"]),
        ('[{"udid": "A", "state": "Booted"}]', ["A"]),
        ('[{"udid": "A", "state": "Shutdown"}]', []),
        ('[{"udid": "A", "availability": "(unavailable)", "isAvailable": true}]', []),
        ('["x", {"state": "Booted"}]', []),
        ("null", []),
    ],
)
def test_simulators_are_those_that_can_run_however_simctl_tells_it(listed: str, usable: list[str]) -> None:
    runtime = "com.apple.CoreSimulator.SimRuntime.iOS-18-0"
    simulators = read_simulators(f'{{"devices": {{"{runtime}": {listed}}}}}'.encode())
    assert [simulator.name for simulator in simulators] == usable
    assert {simulator.runtime for simulator in simulators} <= {"iOS 18.0"}
