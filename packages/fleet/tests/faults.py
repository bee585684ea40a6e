"""One fault in the middle of many units, and what a judge with plain SQL says afterwards."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from packages.fleet.tests.bed import Bed, until

FLOW = """
name: Unit of the bed
app: com.android.settings
retry: lost
attempts: 8
steps:
  - tap: Network & internet
  - press_key: back
"""
HELD_S = 15.0
OVER = ("done", "lost", "unknown", "stopped")


def kill_worker(bed: Bed) -> None:
    """The agent itself. Ray starts it again; without Ray somebody has to, as systemd would."""
    if bed.with_ray:
        until(lambda: bed.of(1, "ray::HostActor"), 60, "an agent to kill")
        bed.kill(bed.of(1, "ray::HostActor"))
    else:
        kill_host(bed)


def kill_host(bed: Bed) -> None:
    """Everything on that machine; it is started again as systemd would."""
    bed.kill(bed.pids(1))
    until(lambda: not bed.pids(1), 20)
    bed.start_host(1)


def freeze_host(bed: Bed) -> None:
    """30 s; then it goes on in the middle of what it did."""
    pids = bed.pids(1)
    bed.kill(pids, signal.SIGSTOP)
    time.sleep(30)
    bed.kill(pids, signal.SIGCONT)


def cut_network(bed: Bed) -> None:
    bed.cut(1)
    time.sleep(14)
    bed.cut(1, is_cut=False)


def kill_raylet(bed: Bed) -> None:
    bed.kill(bed.of(1, "raylet/raylet"))


def kill_head(bed: Bed) -> None:
    """All of its processes, Ray's too; hosts find the new one by themselves. Redis lives on."""
    kept = set(bed.of(0, "redis-server"))
    bed.kill([pid for pid in bed.pids(0) if pid not in kept])
    until(lambda: set(bed.pids(0)) <= kept, 20)
    time.sleep(3)
    bed.start_head()


def fill_disk(bed: Bed) -> None:
    """Not a byte is left where the first host writes, for longer than a lease."""
    ballast = bed.home("h1") / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(b"x" * 65_536):
            pass
    time.sleep(15)
    ballast.unlink()


def slow_network(bed: Bed) -> None:
    bed.slow(1)
    time.sleep(20)
    bed.slow(1, is_slow=False)


FAULTS: dict[str, Callable[[Bed], None]] = {
    "worker": kill_worker,
    "host": kill_host,
    "raylet": kill_raylet,
    "network": cut_network,
    "frozen": freeze_host,
    "head": kill_head,
}
MORE_FAULTS: dict[str, Callable[[Bed], None]] = {**FAULTS, "disk": fill_disk, "slow": slow_network}
"""The first of a full disk needs a bed whose first host has one of its own."""


def hand_in(bed: Bed, units: int, padding: int = 0) -> str:
    """A detached run: whoever handed it in is gone at once, which is the driver's death. `padding` makes
    every flow so many bytes longer."""
    path = bed.folder / "unit.yaml"
    path.write_text(FLOW, encoding="utf-8")
    flows = bed.folder / "flows"
    flows.mkdir(exist_ok=True)
    for number in range(units):
        text = f"{FLOW}# {'x' * padding}\n" if padding else FLOW
        (flows / f"unit-{number:04}.yaml").write_text(text, encoding="utf-8")
    until(lambda: _hosts_there(bed) > 0, 150, "a host is back")
    told = bed.command("run", str(flows), "--fleet", f"http://{bed.address(0)}:8931", "--detach")
    assert told.returncode == 0, told.stderr
    return told.stdout.split()[1]


def _hosts_there(bed: Bed) -> int:
    """By the head's own word: a head that has just come back knows hosts that have not."""
    told = bed.command("fleet", "status", "--json")
    return sum(host["alive"] for host in json.loads(told.stdout)["hosts"]) if told.returncode == 0 else 0


def done(bed: Bed, run: str) -> int:
    return len(bed.rows("SELECT 1 FROM units WHERE run = ? AND state = 'done'", run))


def left(bed: Bed, run: str) -> int:
    return len(bed.rows("SELECT 1 FROM units WHERE run = ? AND state IN ('todo', 'running')", run))


def story(
    bed: Bed, units: int, faults: list[str], *, seconds: float = 900.0, padding: int = 0
) -> dict[str, object]:
    """The counts; raises `AssertionError` where a promise was broken."""
    run = hand_in(bed, units, padding)
    began = time.monotonic()
    for number, fault in enumerate(faults, 1):
        wanted = min(units - 1, units * number // (len(faults) + 1))
        until(lambda wanted=wanted: done(bed, run) >= wanted, seconds, f"{wanted} of {units} done")
        MORE_FAULTS[fault](bed)
    until(lambda: left(bed, run) == 0, seconds, f"{left(bed, run)} units left after {faults}")
    took = time.monotonic() - began
    until(lambda: not bed.rows("SELECT 1 FROM attempts WHERE state = 'running'"), HELD_S, "no phone held")
    return judge(bed, run, units) | {"seconds": round(took, 1)}


def judge(bed: Bed, run: str, units: int) -> dict[str, object]:
    rows = bed.rows(
        "SELECT units.id, units.state, units.attempt, (SELECT count(*) FROM attempts WHERE unit = units.id"
        " AND attempts.state = 'accepted'), (SELECT max(attempt) FROM attempts WHERE unit = units.id AND"
        " attempts.state = 'accepted') FROM units WHERE run = ?",
        run,
    )
    assert len(rows) == units
    for unit, state, attempt, accepted, number in rows:
        assert state in OVER, f"{unit} is still {state}"
        assert accepted == (state == "done"), f"{unit} has {accepted} accepted results"
        assert number in (None, attempt), f"an old attempt of {unit} counts"
    until(lambda: len(bed.alive()) == bed.hosts, 150, "every host is back")
    told = bed.command("fleet", "verify", run, "--json")
    proofs = json.loads(told.stdout)
    assert proofs["ok"], [one for one in proofs["attempts"] if one["problem"]][:3]
    states = [str(row[1]) for row in rows]
    passed = bed.rows(
        "SELECT count(*) FROM attempts JOIN units ON units.id = attempts.unit AND run = ?"
        " WHERE attempts.state = 'accepted' AND json_extract(result, '$.outcome') = 'passed'",
        run,
    )
    return {
        "units": units,
        **{state: states.count(state) for state in sorted(set(states))},
        "passed": passed[0][0],
        "proved": len(proofs["attempts"]),
        "attempts": bed.rows("SELECT count(*) FROM attempts WHERE unit LIKE ?", f"{run}.%")[0][0],
        "late": bed.rows("SELECT count(*) FROM late_results WHERE unit LIKE ?", f"{run}.%")[0][0],
        "held": 0,
    }


def journals_hold(bed: Bed) -> None:
    """Every host's own journal is whole after all kills."""
    for number in range(1, bed.hosts + 1):
        told = bed.command("journal", "verify", number=number, home=f"h{number}")
        assert told.returncode == 0, f"h{number}: {told.stdout}{told.stderr}"
