"""`handrail fleet`: who is in a fleet, what it does, and its end. Speaks to its head by HTTP alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.output import print_json, print_table
from handrail.clock import SystemClock, ago
from handrail.errors import FAMILIES, HandrailError, InvalidAction
from handrail.screen.text import clean, cut
from handrail_fleet.command_head import head
from handrail_fleet.command_host import host

if TYPE_CHECKING:
    from handrail_fleet.client import FleetClient

address_option = click.option(
    "--fleet", "address", metavar="ADDRESS", help="The head, https://HEAD:8430.  [default: this home's own]"
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document.")


@click.group()
def fleet() -> None:
    """Run on many hosts with phones, with one ledger."""


fleet.add_command(head)
fleet.add_command(host)


def _client(address: str | None, *, as_owner: bool = False) -> FleetClient:
    from handrail_fleet.client import FleetClient  # noqa: PLC0415

    return FleetClient.open(address, os.environ, as_owner=as_owner)


@fleet.command()
@address_option
@json_option
def status(address: str | None, as_json: bool) -> None:
    """List the hosts, what they do, and how the newest runs stand."""
    told = _client(address).status()
    if as_json:
        print_json(told)
        return
    if not told["hosts"]:
        click.echo("No host has joined. `handrail fleet host --address …` on a machine with phones joins it.")
    else:
        rows = [_host_row(one) for one in told["hosts"]]
        print_table("Hosts", ("host", "state", "phones", "busy", "heard of", "handrail"), rows)
    if told["runs"]:
        click.echo()
        print_table(
            "Runs", ("run", "state", "units", "late", "what"), [_run_row(one) for one in told["runs"]]
        )


def _host_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    state = "draining" if one["draining"] and one["alive"] else "up" if one["alive"] else "gone"
    busy = sum(len(held["phones"]) for held in one["held"])
    heard = ago(one["heard_ms"], SystemClock().now_ms())
    return (
        one["name"], state, str(len(one["phones"])), str(busy), heard, one["about"].get("handrail", ""),
    )  # fmt: skip


def _run_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    counts = ", ".join(f"{number} {name}" for name, number in one["counts"].items())
    return one["id"], one["state"], counts, str(one["late"]), cut(clean(one["spec"].get("title", "")), 60)


@fleet.command()
@address_option
@json_option
@click.option(
    "--where", metavar="EXPRESSION", default="", help='Only those like "sdk>=33 and not simulated".'
)
def phones(address: str | None, as_json: bool, where: str) -> None:
    """List the phones of all hosts with their labels."""
    from handrail_fleet.where import Where  # noqa: PLC0415

    wanted = Where.parse(where)
    hosts = _client(address).status()["hosts"]
    wanted.check_names([phone["labels"] for one in hosts for phone in one["phones"]])
    found = [
        {"phone": f"{phone['serial']}@{one['name']}", "alive": one["alive"], **phone}
        for one in hosts
        for phone in one["phones"]
        if wanted.matches(phone["labels"])
    ]
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("No phone is like that." if where else "No host has brought a phone yet.")
    header = ("phone", "state", "model", "android", "sdk", "simulated", "tags")
    print_table(f"{len(found)} phones", header, [_phone_row(one) for one in found])


def _phone_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    labels = one["labels"]
    state = one["state"] if one["alive"] else "gone"
    said = [str(labels.get(name, "")) for name in ("model", "android", "sdk", "simulated")]
    return one["phone"], state, *said, ", ".join(labels.get("tags", ()))


@fleet.command()
@click.argument("host_name", metavar="HOST")
@click.option("--off", is_flag=True, help="Let it work again.")
@click.option("--forget", is_flag=True, help="It will not come back: take it off the list.")
@address_option
def drain(host_name: str, off: bool, forget: bool, address: str | None) -> None:
    """Give HOST no new units; it finishes what runs."""
    data: dict[str, Any] = {"forget": True} if forget else {"draining": not off}
    _client(address, as_owner=True).post(f"/api/fleet/hosts/{host_name}/drain", data)
    click.echo(f"{host_name} {'is forgotten' if forget else 'works again' if off else 'gets no new units'}.")


@fleet.command()
@click.argument("hosts", metavar="[HOST]...", nargs=-1)
@address_option
def down(hosts: tuple[str, ...], address: str | None) -> None:
    """End the agents of these hosts, or of all of them. The head itself is ended by Ctrl-C."""
    client = _client(address, as_owner=True)
    names = hosts or tuple(one["name"] for one in client.status()["hosts"] if one["alive"])
    failed = False
    for name in names:
        try:
            client.post(f"/api/fleet/hosts/{name}/down", {})
            click.echo(f"{name} ends.")
        except HandrailError as error:
            failed = True
            click.echo(f"{name}: {error.message}", err=True)
    if not names:
        click.echo("No host is up.")
    sys.exit(FAMILIES["device"].exit_code if failed else 0)


@fleet.command()
@click.argument("run")
@address_option
@click.option(
    "--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write JUnit XML."
)
@click.option(
    "--report", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Write an HTML report."
)
@json_option
def attach(run: str, address: str | None, junit: Path | None, report: Path | None, as_json: bool) -> None:
    """Follow RUN to its end, and print the results. Ctrl-C only stops following."""
    from handrail.cli.run import publish_results  # noqa: PLC0415
    from handrail_fleet.command_run import exit_code, follow, records  # noqa: PLC0415

    client = _client(address)
    if follow(client, run, to_stderr=as_json, stops=False):
        click.echo("The run goes on.", err=True)
        sys.exit(FAMILIES["cancelled"].exit_code)
    units = list(client.units(run))
    if any(unit["kind"] == "task" for unit in units):
        from handrail_fleet.command_eval import tell_evaluation  # noqa: PLC0415

        if junit or report:
            raise InvalidAction("An evaluation has neither --junit nor --report", path="run")
        sys.exit(tell_evaluation(units, as_json=as_json))
    publish_results(records(client, run), junit=junit, report_to=report, as_json=as_json)
    sys.exit(exit_code(client, run, interrupted=False))


@fleet.command()
@click.argument("run")
@address_option
@click.option(
    "--key", "keys", multiple=True, metavar="HOST=KEY", help="A host's journal key that you know yourself."
)
@json_option
def verify(run: str, address: str | None, keys: tuple[str, ...], as_json: bool) -> None:
    """Prove that every result of RUN stands in the signed journal of the host that reported it.

    Ends with 1 where one does not. The keys are those that the hosts joined with, unless --key names them.
    """
    from handrail_fleet.proof import verify_run  # noqa: PLC0415

    given = dict(key.split("=", 1) for key in keys if "=" in key)
    found = verify_run(_client(address), run, given)
    if as_json:
        print_json(found)
    else:
        _say_proofs(found)
    sys.exit(0 if found["ok"] else FAMILIES["outcome"].exit_code)


def _say_proofs(found: Mapping[str, Any]) -> None:
    bad: Sequence[Mapping[str, Any]] = [one for one in found["attempts"] if one["problem"]]
    for one in bad:
        click.echo(f"NOT PROVED {one['unit']}#{one['attempt']} of {one['host']}: {one['problem']}")
    for name, told in found["hosts"].items():
        click.echo(
            f"{name}: {told['attempts']} attempts, {told['entries']} actions, journal {told['origin']}"
        )
    good = len(found["attempts"]) - len(bad)
    click.echo(f"{good} of {len(found['attempts'])} accepted results are proved")
