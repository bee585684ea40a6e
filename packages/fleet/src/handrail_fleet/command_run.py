"""Flows on a fleet: handed in at its head, followed in one table, told like flows on one machine."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import FleetOptions
from handrail.errors import FAMILIES, InvalidAction
from handrail.screen.text import clean, cut

if TYPE_CHECKING:
    from rich.table import Table

    from handrail.flow.plan import AnyFlow, FlowPlan
    from handrail.flow.run_record import FlowRecord
    from handrail_fleet.client import FleetClient
    from handrail_fleet.ledger import UnitSpec

STOP_S = 20.0
"""After Ctrl-C: so long the hosts are waited for."""
GONE = ("lost", "unknown")


def specs_of(
    plans: Sequence[tuple[AnyFlow, FlowPlan]],
    env_for: Callable[[AnyFlow], Mapping[str, str]],
    options: FleetOptions,
    **how: Any,
) -> list[UnitSpec]:
    """The flows as data. Everything that can be wrong with them is said before the head is asked."""
    from handrail_fleet.flow_unit import bundle  # noqa: PLC0415
    from handrail_fleet.where import Where  # noqa: PLC0415

    Where.parse(options.where)
    made: list[UnitSpec] = []
    for document, ready in plans:
        one = bundle(document, ready, env_for(document), **how)
        pins = _pins(ready, one.phones, options)
        made.append(replace(one, where=options.where, pins=pins))
    return made


def _pins(ready: FlowPlan, count: int, options: FleetOptions) -> tuple[str, ...]:
    """`--device [NAME=]SERIAL@HOST`, in the order of the flow's devices."""
    from handrail.flow.plan import devices_of  # noqa: PLC0415

    if not options.devices:
        return ()
    given = {name: serial for name, serial in options.devices if name is not None}
    others = [serial for name, serial in options.devices if name is None]
    chosen = [given.get(name) or (others.pop(0) if others else "") for name in devices_of(ready) or ("",)]
    if len(chosen) != count or not all("@" in one for one in chosen):
        raise InvalidAction(
            f"{ready.flow.name} needs {count} phones of the fleet, each as SERIAL@HOST",
            path="device",
            hint="`handrail fleet phones` lists them.",
        )
    return tuple(chosen)


def hand_in(
    specs: Sequence[UnitSpec], options: FleetOptions, *, to_stderr: bool
) -> tuple[FleetClient, str, bool]:
    """The head, the run, and whether it was interrupted. A detached run is only handed in."""
    from handrail_fleet.client import FleetClient  # noqa: PLC0415

    client = FleetClient.open(options.address, os.environ)
    title = ", ".join(dict.fromkeys(spec.name for spec in specs))[:200]
    run = client.submit(specs, title, each_device=options.each_device)
    if options.detach:
        click.echo(f"run {run}", err=to_stderr)
        click.echo(f"`handrail fleet attach {run} --fleet {client.address}` follows it.", err=True)
        return client, run, False
    return client, run, follow(client, run, to_stderr=to_stderr)


def follow(client: FleetClient, run: str, *, to_stderr: bool, stops: bool = True) -> bool:
    """Until it is over. Ctrl-C stops its units and frees their phones (`stops`), and is told by True."""
    interrupted = False
    began = time.monotonic()
    with FleetProgress(to_stderr=to_stderr) as shown, _sigterm_is_ctrl_c():
        while True:
            try:
                told = client.watch(run)
                shown.show(told, client)
                if told["state"] == "done" or (interrupted and time.monotonic() - began > STOP_S):
                    return interrupted
            except KeyboardInterrupt:
                if interrupted or not stops:
                    return True
                interrupted, began = True, time.monotonic()
                client.stop(run)


@contextmanager
def _sigterm_is_ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class FleetProgress:
    """On a terminal one table of all hosts; elsewhere a line for each unit that is over."""

    def __init__(self, *, to_stderr: bool) -> None:
        self._to_stderr = to_stderr
        self._sink = sys.stderr if to_stderr else sys.stdout
        self._live: Any = None
        self._told: set[str] = set()

    def __enter__(self) -> FleetProgress:
        if self._sink.isatty():
            from rich.console import Console  # noqa: PLC0415
            from rich.live import Live  # noqa: PLC0415

            self._live = Live(console=Console(file=self._sink), refresh_per_second=4, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def is_live(self) -> bool:
        """On a terminal."""
        return self._live is not None

    def show(self, run: Mapping[str, Any], client: FleetClient) -> None:
        if self._live is not None:
            self._live.update(_table(run, client.status(1)["hosts"]))
            return
        total = sum(run["counts"].values())
        for unit in client.units(run["id"]):
            if unit["state"] in ("todo", "running") or unit["unit"] in self._told:
                continue
            self._told.add(unit["unit"])
            outcome = (unit["result"] or {}).get("outcome", unit["state"])
            where = f" on {_where(unit)}" if unit["host"] else ""
            click.echo(
                f"{len(self._told)}/{total} {outcome}: {clean(unit['name'])}{where}", err=self._to_stderr
            )


def _where(one: Mapping[str, Any]) -> str:
    return ", ".join(f"{phone}@{one['host']}" for phone in one["phones"] or ())


def _table(run: Mapping[str, Any], hosts: Sequence[Mapping[str, Any]]) -> Table:
    from rich.table import Table  # noqa: PLC0415

    counts = run["counts"]
    parts = ", ".join(f"{counts[name]} {name}" for name in counts)
    table = Table(title=f"{run['id']}: {parts}", title_justify="left", box=None, pad_edge=False)
    for name in ("host", "phones", "now"):
        table.add_column(name, overflow="ellipsis", no_wrap=True)
    for host in hosts:
        busy = sum(len(held["phones"]) for held in host["held"])
        state = "" if host["alive"] else " (not heard of)"
        now = "; ".join(f"{held['phones'][0]}: {clean(held['said'])}" for held in host["held"][:3])
        table.add_row(f"{host['name']}{state}", f"{busy} of {len(host['phones'])}", cut(now, 120))
    return table


def records(client: FleetClient, run: str, files: Sequence[str] = ()) -> list[FlowRecord]:
    """What came of every unit, as records of one machine. What was lost is told as failed, with why."""
    from handrail_fleet.flow_unit import records_of  # noqa: PLC0415

    found: list[FlowRecord] = []
    for unit in client.units(run):
        number = unit["number"] - 1
        file = files[number] if number < len(files) else f"{unit['unit']}/{unit['name']}"
        made = records_of(unit["result"] or {}, client.file, file)
        for record in made:
            record.device = f"{_where(unit)}: {record.device}"
            record.journal_head = f"{unit['host']} entry {unit['last_entry']}"
        found += made or [_without_record(unit, file)]
    return found


def _without_record(one: Mapping[str, Any], file: str) -> FlowRecord:
    from handrail.flow.run_record import FlowRecord  # noqa: PLC0415

    began = one["handed_ms"] or 0
    record = FlowRecord(one["name"], file, (), _where(one) if one["host"] else "", began)
    said = (one["result"] or {}).get("message") or one["why"]
    match one["state"]:
        case "lost":
            record.outcome, record.error = "failed", f"It was lost: {said}. Its actions may have been done."
        case "unknown":
            record.outcome = "failed"
            record.error = f"Unknown: {said}. It must not run twice, so a person has to look."
        case "done":
            record.outcome, record.error = "failed", said or "Its record did not arrive"
        case _:
            record.outcome, record.error = "skipped", "It was stopped before it began"
    return record


def exit_code(client: FleetClient, run: str, *, interrupted: bool) -> int:
    """As on one machine; what was lost with its host is like a phone that is gone."""
    units = list(client.units(run))
    outcomes = {(unit["result"] or {}).get("outcome", unit["state"]) for unit in units}
    if interrupted or "stopped" in outcomes:
        return FAMILIES["cancelled"].exit_code
    if outcomes & set(GONE):
        return FAMILIES["device"].exit_code
    return 0 if outcomes <= {"passed"} else FAMILIES["outcome"].exit_code


def refuse_what_needs_this_machine(options: Any) -> None:
    """Raises `InvalidAction`."""
    for name, is_set, why in (
        ("heal", options.heal, "it edits files here"),
        ("sim", options.wanted.sim is not None, "its phones are the fleet's; --where simulated chooses them"),
        ("video", options.video, "films are made where the phones are"),
    ):
        if is_set:
            raise InvalidAction(f"--{name} does not go with --fleet: {why}", path=name, hint="Leave it out.")
    if options.approvals not in (None, "wait", "fail"):
        raise InvalidAction(
            "--approvals FILE does not go with --fleet: a file can't answer questions about others' phones",
            path="approvals",
            hint="Answer at the head's desk, or give fail.",
        )
