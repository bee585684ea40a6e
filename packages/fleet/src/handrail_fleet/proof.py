"""Whether every accepted result stands in its host's signed journal. Needs the head's files, and no host.

The host's entry `attempt_ended` names the result by its digest and every action by its entry; a path leads
from each of them to the root that the host has signed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from handrail.journal.checkpoint import SignedCheckpoint, read_hash
from handrail.journal.merkle import BadProof, check_inclusion
from handrail.journal.proof import ActionProof
from handrail.journal.signed_note import BadNote, VerifierKey
from handrail_fleet.attempt_book import digest_of

if TYPE_CHECKING:
    from handrail_fleet.client import FleetClient


class NotProved(Exception):
    """Why an attempt is not."""


def verify_run(client: FleetClient, run: str, keys: Mapping[str, str]) -> dict[str, Any]:
    """Every accepted attempt with its problem, if it has one; what each host has proved."""
    known = {one["name"]: one["key"] for one in client.status()["hosts"]} | dict(keys)
    found: list[dict[str, Any]] = []
    hosts: dict[str, dict[str, Any]] = {}
    for unit in client.units(run):
        for one in client.unit(unit["unit"])["attempts"]:
            if one["state"] != "accepted":
                continue
            told = _judged(one, known)
            found.append(told)
            mine = hosts.setdefault(told["host"], {"attempts": 0, "entries": 0, "origin": ""})
            mine["attempts"] += 1
            mine["entries"] += len(told["entries"])
            mine["origin"] = told["origin"] or mine["origin"]
    return {
        "run": run,
        "ok": not any(one["problem"] for one in found),
        "attempts": found,
        "hosts": hosts,
    }


def _judged(one: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "unit": one["unit"], "attempt": one["attempt"], "host": one["host"], "phones": one["phones"],
        "entries": [], "origin": "", "problem": "",
    }  # fmt: skip
    try:
        told |= check_attempt(one, keys)
    except (NotProved, BadNote, BadProof, KeyError, TypeError, ValueError) as error:
        told["problem"] = str(error) or type(error).__name__
    return told


def check_attempt(one: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    """The numbers of its journal entries. Raises where anything does not fit."""
    proof = one["proof"]
    if proof is None:
        raise NotProved("its proof did not arrive")
    if one["host"] not in keys:
        raise NotProved(f"no key of {one['host']} is known")
    if proof["host"] != one["host"]:
        raise NotProved(f"its proof came from {proof['host']}")
    key = VerifierKey.parse(keys[one["host"]])
    ended = ActionProof.parse(proof["ended"].encode())
    ended.check([key])
    said = ended.entries[-1].event.get("attempt", {})
    if (said.get("unit"), said.get("number")) != (one["unit"], one["attempt"]):
        raise NotProved("the entry is of another attempt")
    if said.get("result") != digest_of(one["result"]):
        raise NotProved("the journal names another result")
    signed = SignedCheckpoint.parse(proof["checkpoint"])
    signed.check([key])
    _check_places(said["actions"], proof["places"], signed)
    return {"entries": [seq for _, seq in said["actions"]], "origin": signed.checkpoint.origin}


def _check_places(actions: list[Any], places: list[Any], signed: SignedCheckpoint) -> None:
    """Each action that the entry names, and no other, by the path from its last entry's leaf."""
    if [place[:2] for place in places] != actions:
        raise NotProved("the places are not those of its actions")
    seen = signed.checkpoint
    for _, seq, leaf, *path in places:
        check_inclusion(read_hash(leaf), seq - 1, seen.size, [read_hash(one) for one in path], seen.root)
