"""Units are data: what a caller may hand in, and which phones it may run on."""

import hashlib
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from packages.fleet.tests.lab import lab, unit

from handrail.errors import InvalidAction, StoreFull
from handrail_fleet.artefacts import Artefacts
from handrail_fleet.attempt_book import digest_of
from handrail_fleet.fence import check_lease
from handrail_fleet.flow_unit import FlowKind
from handrail_fleet.hand_out import spread
from handrail_fleet.ledger import UnitSpec
from handrail_fleet.proof import check_attempt
from handrail_fleet.ray_cluster import RayPlace, need_ray, own_folder
from handrail_fleet.transport import check_versions, join_token, secret_file, versions
from handrail_fleet.unit_kind import UnitStage, kind_of
from tests.scenario.world import play

TWO = """
name: Two phones
devices: [alice, bob]
steps:
  - parallel:
      alice: [{press_key: home}]
      bob: [{press_key: home}]
"""
ONE = "name: One\nsteps:\n  - press_key: home\n"


async def two_phones(folder: Path) -> None:
    async with lab(folder) as fleet:
        await fleet.add("one", phones=1)
        await fleet.add("two", phones=1)
        with pytest.raises(InvalidAction, match="needs 2 phones on one host: one has 1, two has 1"):
            await fleet.submit([unit(TWO, folder)])
        await fleet.add("three", phones=2)
        run = await fleet.submit([unit(TWO, folder)])
        await fleet.done(run)
        [told] = await fleet.units(run)
        assert (told["host"], told["phones"], told["result"]["outcome"]) == (
            "three", ["sim-1", "sim-2"], "passed",
        )  # fmt: skip


def test_a_flow_on_two_phones_runs_on_one_host_and_never_across_two(tmp_path: Path) -> None:
    play(two_phones(tmp_path))


async def each_phone(folder: Path) -> None:
    async with lab(folder) as fleet:
        await fleet.add("one", phones=2)
        await fleet.add("two", phones=1)
        run = await fleet.submit([unit(ONE, folder)], each_device=True)
        await fleet.done(run)
        units = await fleet.units(run)
        assert sorted((one["host"], *one["phones"]) for one in units) == [
            ("one", "sim-1"), ("one", "sim-2"), ("two", "sim-1"),
        ]  # fmt: skip
        for wrong in ("not simulated", "sdk > 99"):
            with pytest.raises(InvalidAction, match="none of the 3 phones"):
                await fleet.head.submit(
                    {"units": [{"kind": "flow", "name": "x", "body": {}, "where": wrong}]}, "me"
                )
        for given in (
            {"kind": "code", "body": {}},
            {"kind": "flow", "body": {}, "run": "import os"},
            "flow",
            {},
        ):
            with pytest.raises(InvalidAction):
                await fleet.head.submit({"units": [given]}, "me")
        one = (await fleet.head.do(lambda ledger: ledger.attempts(f"{run}.1")))[0]
        one["proof"] = fleet.head.proof(f"{run}.1", 1)
        keys = {host["name"]: host["key"] for host in await fleet.head.do(lambda ledger: ledger.hosts())}
        assert check_attempt(one, keys)["entries"]
        forged = {"unit": f"{run}.1", "attempt": 1, "ended": "accepted", "result": {"outcome": "passed"}}
        for name in keys:
            before = fleet.head.proof(f"{run}.1", 1)
            proof = {"ended": "", "places": [], "checkpoint": ""}
            who = {"name": name, "incarnation": fleet.hosts[name].agent.incarnation}
            told = {**who, "files": {}, "reports": [{"report": forged, "proof": proof}]}
            assert (await fleet.head.answer("report", told))["answers"][0] in ("late", "refused")
            assert fleet.head.proof(f"{run}.1", 1) == before, "nobody changes a proof that counts"
        for broken in broken_ones(one, keys):
            with pytest.raises(Exception, match=r"."):
                check_attempt(broken, keys)


def broken_ones(one: dict, keys: dict[str, str]) -> list[dict]:  # type: ignore[type-arg]
    """Everything that somebody at the head could change afterwards."""
    proof = one["proof"]
    other = next(name for name in keys if name != one["host"])
    places = [[*place] for place in proof["places"]]
    places[0][2] = places[-1][2] if len(places) > 1 else "A" * 43 + "="
    return [
        {**one, "result": {**one["result"], "outcome": "failed"}},
        {**one, "attempt": 2},
        {**one, "host": other, "proof": {**proof, "host": other}},
        {**one, "proof": None},
        {**one, "proof": {**proof, "places": proof["places"][:-1]}},
        {**one, "proof": {**proof, "places": places}},
        {**one, "proof": {**proof, "ended": proof["ended"].replace(one["unit"], one["unit"] + "0")}},
    ]


def test_a_flow_runs_once_on_each_phone_and_its_proof_breaks_with_any_change(tmp_path: Path) -> None:
    play(each_phone(tmp_path))


@pytest.mark.parametrize("name", ["../out.yaml", "/tmp/out.yaml", "a/../../out.yaml", "."])
def test_a_unit_writes_nothing_outside_its_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "unit"
    folder.mkdir()
    stage = UnitStage(None, None, [], None, folder, True, lambda: None)  # type: ignore[arg-type]
    with pytest.raises(InvalidAction):
        play(FlowKind().run({"files": {name: ONE}, "main": name}, stage))
    assert [one for one in tmp_path.rglob("*.yaml") if folder not in one.parents] == []


def test_a_kind_that_a_host_does_not_know_is_refused() -> None:
    with pytest.raises(InvalidAction):
        kind_of("os:system")


def test_files_are_resumed_kept_once_and_believed_by_their_hash_alone(tmp_path: Path) -> None:
    kept = Artefacts(tmp_path, most_bytes=100)
    data = b"0123456789"
    name = hashlib.sha256(data).hexdigest()
    assert kept.put(name, 0, 10, data[:4]) == 4
    assert Artefacts(tmp_path).have([name]) == {name: 4}
    assert kept.put(name, 2, 10, data[2:]) == 4, "a part that does not fit is not taken"
    assert kept.put(name, 4, 10, data[4:]) == 10
    assert kept.get(name) == data
    assert kept.put(name, 0, 10, b"another...") == 10
    assert kept.get(name) == data
    with pytest.raises(InvalidAction, match="hash"):
        kept.put("0" * 64, 0, 3, b"abc")
    assert kept.get("0" * 64) is None
    with pytest.raises(StoreFull):
        kept.put("1" * 64, 0, 91, b"x")
    kept.put("2" * 64, 0, 80, b"x")
    with pytest.raises(StoreFull):
        kept.put("3" * 64, 0, 20, b"x")
    with pytest.raises(StoreFull):
        kept.keep(hashlib.sha256(b"y" * 20).hexdigest(), b"y" * 20)
    assert sum(one.stat().st_size for one in tmp_path.rglob("*") if one.is_file()) <= 100
    with pytest.raises(InvalidAction, match="hash"):
        kept.keep("4" * 64, b"x")
    for wrong in ("../passwd", "", "A" * 64):
        with pytest.raises(InvalidAction):
            kept.get(wrong)


def test_two_hosts_that_bring_the_same_file_at_the_same_moment_bring_it_whole(tmp_path: Path) -> None:
    kept, data = Artefacts(tmp_path), bytes(range(256)) * 40
    name = hashlib.sha256(data).hexdigest()

    def bring(_: int) -> None:
        done = 0
        while done < len(data):
            done = kept.put(name, done, len(data), data[done : done + 100])

    with ThreadPoolExecutor(4) as hosts:
        list(hosts.map(bring, range(4)))
    assert kept.get(name) == data


@pytest.mark.parametrize("far", ["../secret.yaml", "/etc/hostname", "inner/../../secret.yaml"])
def test_a_flow_of_a_caller_runs_no_file_of_the_host(tmp_path: Path, far: str) -> None:
    """Also not one that can't be read as a flow: its words would come back in the error."""
    (tmp_path / "secret.yaml").write_text("the word is: xyzzy\n: [")
    folder = tmp_path / "unit"
    (folder / "inner").mkdir(parents=True)
    stage = UnitStage(None, None, [], None, folder, True, lambda: None)  # type: ignore[arg-type]
    main = f"name: M\nsteps:\n  - run_flow: inner/one.yaml\n  - run_flow: {far}\n"
    for text in (main, main.replace("inner/one", "deep")):
        files = {
            "main.yaml": text,
            "inner/one.yaml": ONE,
            "deep.yaml": f"name: D\nsteps:\n  - run_flow: {far}\n",
        }
        with pytest.raises(InvalidAction, match="leads out of the flow's folder") as told:
            play(FlowKind().run({"files": files, "main": "main.yaml"}, stage))
        assert "xyzzy" not in str(told.value)


def test_a_folder_of_ray_that_somebody_else_made_is_not_used(tmp_path: Path) -> None:
    own_folder(tmp_path / "own")
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o700
    (tmp_path / "wide").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(tmp_path / "own")
    for name in ("wide", "link"):
        with pytest.raises(InvalidAction):
            own_folder(tmp_path / name)


def test_a_token_of_hosts_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fleet-host.token"
    path.write_text("token.secret\n")
    path.chmod(0o600)
    assert join_token(path) == ("token", "secret")
    path.chmod(0o640)
    with pytest.raises(InvalidAction, match="read by others"):
        join_token(path)


def test_other_versions_are_not_let_in() -> None:
    check_versions(versions())
    check_versions({**versions(), "ray": ""})
    for name in ("handrail", "python", *(["ray"] if versions()["ray"] else [])):
        with pytest.raises(InvalidAction, match=name):
            check_versions({**versions(), name: "0.0.1"})


def test_a_lease_that_leaves_no_time_to_stop_is_refused() -> None:
    check_lease(5_000, 1_000)
    with pytest.raises(InvalidAction):
        check_lease(4_999, 1_000)


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest_of({"a": 1, "b": [2]}) == digest_of({"b": [2], "a": 1}) != digest_of({"a": 1, "b": [3]})


@pytest.mark.parametrize("line", ["--help", "run --help", "fleet --help", "fleet status", "eval --list"])
def test_no_command_without_a_fleet_imports_ray(line: str, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom handrail.cli.program import cli\n"
        f"try:\n    cli({line.split()!r}, standalone_mode=False)\nexcept BaseException:\n    pass\n"
        "sys.exit(any(name.partition('.')[0] == 'ray' for name in sys.modules))"
    )
    env = {"HANDRAIL_HOME": str(tmp_path), "HANDRAIL_NO_DAEMON": "1"}
    assert subprocess.run([sys.executable, "-c", code], env=env, capture_output=True).returncode == 0


def test_ray_is_started_with_a_token_and_tells_nobody(tmp_path: Path) -> None:
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install 'handrail[fleet]', then `make test-fleet` tests it")
    place = RayPlace("localhost", 6390, tmp_path)
    env = place.env()
    assert (env["RAY_AUTH_MODE"], env["RAY_USAGE_STATS_ENABLED"]) == ("token", "0")
    assert place.ip == "127.0.0.1"
    secret = secret_file(place.token)
    assert place.token.stat().st_mode & 0o777 == 0o600
    assert secret_file(place.token) == secret
    place.token.chmod(0o644)
    with pytest.raises(InvalidAction, match="read by others"):
        secret_file(place.token)
    assert need_ray()[0] == sys.executable


def test_phones_that_are_away_are_not_told_as_phones_of_the_wrong_kind() -> None:
    host = {
        "name": "h1",
        "alive": False,
        "draining": False,
        "phones": [{"serial": "a", "labels": {"sdk": 34}}],
    }
    spec = UnitSpec(kind="flow", name="One", body={}, where="sdk >= 33")
    with pytest.raises(InvalidAction, match="hosts that are away or drained: h1"):
        spread(spec, [host])
    with pytest.raises(InvalidAction, match="none of the 1 phones fits"):
        spread(replace(spec, where="sdk >= 35"), [host])


@pytest.mark.parametrize(
    ("address", "is_open"), [("127.0.0.1", False), ("::1", False), ("0.0.0.0", True), ("::", True)]
)
def test_ray_on_localhost_is_refused_where_others_reach_it(
    tmp_path: Path, address: str, is_open: bool
) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, 0), family=family) as listening:
        port = listening.getsockname()[1]
        place = RayPlace("localhost", port - 2, tmp_path)
        if is_open:
            with pytest.raises(InvalidAction, match=f"others reach it at {address} port {port}") as refused:
                place.refuse_open_sockets()
            assert "--no-ray" in refused.value.hint
        else:
            place.refuse_open_sockets()
        replace(place, is_trusted=True).refuse_open_sockets()
        replace(place, bind="10.0.0.10").refuse_open_sockets()
