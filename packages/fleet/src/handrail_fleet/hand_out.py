"""Which of the units that wait goes to which free phones of a host. Pure; reads no more units than needed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from handrail.errors import InvalidAction
from handrail_fleet.ledger import FleetPhone, UnitSpec
from handrail_fleet.where import Where


class _Row(Protocol):
    def __getitem__(self, key: str, /) -> Any: ...


@lru_cache(maxsize=256)
def where_of(text: str) -> Where:
    """Read once; thousands of units share one."""
    return Where.parse(text)


def hand_out(
    todo: Iterable[_Row], host: str, free: Sequence[FleetPhone], limit: int
) -> Iterator[tuple[str, list[str]]]:
    """Units with the serials of their phones, in the order in which they came."""
    left = list(free)
    hopeless: set[tuple[str, str, int]] = set()
    for unit in todo:
        if limit <= 0 or not left:
            return
        wish = (unit["wanted"], unit["pins"], unit["phones"])
        if wish in hopeless:
            continue
        chosen = _chosen(wish, host, left)
        if chosen is None:
            hopeless.add(wish)
            continue
        left = [one for one in left if one not in chosen]
        limit -= 1
        yield unit["id"], [one.serial for one in chosen]


def _chosen(wish: tuple[str, str, int], host: str, left: Sequence[FleetPhone]) -> list[FleetPhone] | None:
    wanted, pins, count = wish
    named = json.loads(pins)
    if named:
        by_name = {f"{one.serial}@{host}": one for one in left}
        return [by_name[pin] for pin in named] if all(pin in by_name for pin in named) else None
    matches = where_of(wanted).matches
    fitting = [one for one in left if matches(one.labels)]
    return fitting[:count] if len(fitting) >= count else None


def spread(one: UnitSpec, hosts: Sequence[Mapping[str, Any]], *, each_device: bool = False) -> list[UnitSpec]:
    """The units of one flow or task: one for any phone, or one for each. Refused where none could run it."""
    where = where_of(one.where)
    where.check_names([phone["labels"] for host in hosts for phone in host["phones"]])
    fitting = {
        host["name"]: [phone["serial"] for phone in host["phones"] if where.matches(phone["labels"])]
        for host in hosts
        if host["alive"] and not host["draining"]
    }
    if not any(fitting.values()):
        raise _none(one, hosts)
    if one.pins:
        _check_pins(one, fitting)
        return [one]
    if max(map(len, fitting.values())) < one.phones:
        raise _across(one, fitting)
    if not each_device:
        return [one]
    if one.phones > 1:
        raise InvalidAction(f"{one.name} needs {one.phones} phones; --each-device is for flows on one")
    return [_pinned(one, f"{serial}@{host}") for host, serials in fitting.items() for serial in serials]


def _none(one: UnitSpec, hosts: Sequence[Mapping[str, Any]]) -> InvalidAction:
    """Phones that are away are not phones of the wrong kind."""
    matches = where_of(one.where).matches
    away = [
        host["name"] for host in hosts if any(matches(phone["labels"]) for phone in host["phones"])
    ]  # with a phone that fits, and away or draining
    if away:
        hint = "Hand it in again when `handrail fleet status` shows them."
        return InvalidAction(
            f"{one.name}: phones that fit are on hosts that are away or drained: {', '.join(away)}",
            path="where",
            hint=hint,
        )
    known = sum(len(host["phones"]) for host in hosts)
    told = f"{one.name}: none of the {known} phones fits --where {one.where!r}"
    hint = "`handrail fleet phones` lists them with their labels."
    return InvalidAction(told if known else "There are no phones", path="where", hint=hint)


def _pinned(one: UnitSpec, pin: str) -> UnitSpec:
    return UnitSpec(
        one.kind, one.name, one.body, one.where, (pin,), 1, one.attempts, one.retry_lost, one.once
    )


def _check_pins(one: UnitSpec, fitting: Mapping[str, Sequence[str]]) -> None:
    there = {f"{serial}@{host}" for host, serials in fitting.items() for serial in serials}
    for pin in one.pins:
        if pin not in there:
            hint = "`handrail fleet phones` lists them as SERIAL@HOST."
            raise InvalidAction(f"{one.name}: {pin} is not a phone of this fleet", path="device", hint=hint)
    if len({pin.rpartition("@")[2] for pin in one.pins}) > 1:
        raise InvalidAction(
            f"{one.name} would run on {' and '.join(one.pins)}: one flow can't run on phones of two hosts",
            path="device",
            hint="Name phones of one host. Its steps share a journal and a clock, which two hosts do not.",
        )


def _across(one: UnitSpec, fitting: Mapping[str, Sequence[str]]) -> InvalidAction:
    most = ", ".join(f"{host} has {len(serials)}" for host, serials in fitting.items())
    return InvalidAction(
        f"{one.name} needs {one.phones} phones on one host: {most}",
        path="where",
        hint="One flow can't run on phones of two hosts; connect them to the same one.",
    )
