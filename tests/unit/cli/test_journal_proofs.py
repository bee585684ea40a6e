"""`handrail journal`, the part for strangers, and `handrail witness`."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from handrail.cli.doctor import check_witness
from handrail.config import Config
from handrail.journal.witnesses import WitnessState
from tests.unit.cli.command import Handrail
from tests.unit.journal.journalist import write_actions
from tests.unit.journal.rewriter import rewrite, rows_of
from tests.unit.web_server.push_service import certificate


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five actions of four events."""
    home = tmp_path / "home"
    write_actions(home, 5)
    monkeypatch.setenv("HANDRAIL_HOME", str(home))
    return home


@pytest.mark.usefixtures("home")
def test_the_signed_head_is_printed_and_is_the_same_until_something_is_done(handrail: Handrail) -> None:
    first = handrail("journal", "checkpoint")
    origin, size, _, blank, signature = first.out.splitlines()
    assert (size, blank, signature.startswith(f"\u2014 {origin} ")) == ("20", "", True)
    assert handrail("journal", "checkpoint").out == first.out
    data = handrail("journal", "checkpoint", "--json").lines[0]
    assert (data["origin"], data["size"], data["note"]) == (origin, 20, first.out)
    assert handrail("journal", "key").out.startswith(f"{origin}+")


def test_one_action_is_proved_to_somebody_without_the_journal(
    handrail: Handrail, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof, key = str(tmp_path / "proof"), tmp_path / "key"
    assert handrail("journal", "prove", "tap_1710000000000_3", "--out", proof).code == 0
    assert handrail("journal", "prove", "12").out == Path(proof).read_text(), "by a number, too"
    key.write_text(handrail("journal", "key").out)
    monkeypatch.setenv("HANDRAIL_HOME", str(tmp_path / "nothing"))
    for given in (str(key), key.read_text().strip()):
        done = handrail("journal", "verify-proof", proof, "--key", given)
        assert done.out.startswith(
            "proved: tap_1710000000000_3: entries 9, 10, 11, 12 of 20 in handrail/journal/"
        )
    told = handrail("journal", "verify-proof", proof, "--key", str(key), "--json").lines[0]
    assert [event["seq"] for event in told["events"]] == [9, 10, 11, 12]
    assert not (tmp_path / "nothing").exists()
    Path(proof).write_text(Path(proof).read_text().replace("Button 3", "Button 4"))
    done = handrail("journal", "verify-proof", proof, "--key", str(key))
    assert (done.code, "VERIFICATION_FAILED" in done.err) == (1, True)


@pytest.mark.usefixtures("home")
def test_bad_input_gets_a_code_and_a_hint(handrail: Handrail, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("nothing of the kind")
    handrail("journal", "prove", "1", "--out", str(tmp_path / "proof"))
    text, proof = str(tmp_path / "text"), str(tmp_path / "proof")
    for words in (
        ("prove", "tap_99"),
        ("prove", "1", "--out", str(tmp_path / "no" / "folder")),
        ("verify-proof", proof),
        ("verify-proof", proof, "--key", "a+b+c"),
        ("verify-proof", proof, "--key", text),
        ("verify-proof", proof, "--key", str(tmp_path / "nowhere")),
        ("verify-proof", text, "--key", handrail("journal", "key").out.strip()),
        ("verify", "--checkpoint", text),
        ("verify", "--checkpoint", str(tmp_path / "nowhere")),
        ("consistency", text, text),
        ("checkpoint", "--out", str(tmp_path / "no" / "folder")),
    ):
        done = handrail("journal", *words)
        assert (done.code, done.err.count("\n")) == (2, 2), (words, done.err)


def test_two_checkpoints_are_compared(handrail: Handrail, home: Path, tmp_path: Path) -> None:
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    handrail("journal", "checkpoint", "--out", old)
    write_actions(home, 2)
    handrail("journal", "checkpoint", "--out", new)
    assert handrail("journal", "consistency", old, new).out.startswith("ok: 28 entries begin with the 20 of")
    assert handrail("journal", "consistency", old, old).code == 0
    assert handrail("journal", "consistency", new, old).code == 2
    rows = rows_of(home)
    rewrite(home, [*rows[:3], rows[4], rows[3], *rows[5:]])
    handrail("journal", "checkpoint", "--out", new)
    done = handrail("journal", "consistency", old, new)
    assert (done.code, "does not continue" in done.err) == (1, True)


def test_a_rewrite_is_named_by_a_kept_checkpoint(handrail: Handrail, home: Path, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept")
    handrail("journal", "checkpoint", "--out", kept)
    key = handrail("journal", "key").out.strip()
    assert (tmp_path / "kept.leaves").stat().st_size == 20 * 32
    write_actions(home, 2)
    assert handrail("journal", "verify", "--checkpoint", kept, "--key", key).code == 0
    rows = rows_of(home)
    rewrite(home, [*rows[:6], *rows[7:]])
    assert handrail("journal", "verify").code == 0, "nothing in the home shows it"
    done = handrail("journal", "verify", "--checkpoint", kept)
    assert (done.code, done.out) == (
        1,
        f"BROKEN at entry 7: entry 7 was changed: it is not the one that {kept} has\n",
    )
    told = handrail("journal", "verify", "--checkpoint", kept, "--json").lines[0]
    assert (told["ok"], told["first_bad"], told["last_bad"]) == (False, 7, None)


def test_the_key_is_rotated_and_old_trust_follows(handrail: Handrail, home: Path, tmp_path: Path) -> None:
    old_key, old, new = handrail("journal", "key").out.strip(), str(tmp_path / "old"), str(tmp_path / "new")
    handrail("journal", "checkpoint", "--out", old)
    new_key = handrail("journal", "rotate-key").out.strip()
    assert handrail("journal", "key").out.strip() == new_key != old_key
    handrail("journal", "checkpoint", "--out", new)
    assert handrail("journal", "consistency", old, new).code == 0
    assert handrail("journal", "verify", "--checkpoint", old, "--checkpoint", new).code == 0
    shown = json.loads(rows_of(home)[-1][1])
    note = tmp_path / "note"
    note.write_text(shown["note"])
    assert shown["kind"] == "key_handed_over"
    assert handrail("journal", "key", "--hand-overs").out.endswith(shown["note"])
    proof = str(tmp_path / "proof")
    handrail("journal", "prove", "21", "--out", proof)
    assert handrail("journal", "verify-proof", proof, "--key", old_key).code == 1
    assert handrail("journal", "verify-proof", proof, "--key", old_key, "--hand-over", str(note)).code == 0


def test_doctor_tells_how_far_the_witness_is(home: Path, tmp_path: Path, handrail: Handrail) -> None:
    config = Config(home=home, witness=str(tmp_path / "disk"))
    assert check_witness(Config(home=home), 0).state == "note"
    assert "nothing yet; 20 wait" in check_witness(config, 0).text
    WitnessState(str(tmp_path / "disk"), 12, 1_000).write(home)
    found = check_witness(config, 61_000)
    assert (found.state, found.text) == ("ok", f"{tmp_path / 'disk'} has 12 entries, 60 s ago; 8 wait")
    WitnessState(str(tmp_path / "disk"), 12, 1_000, "the disk is away").write(home)
    assert check_witness(config, 61_000).state == "warning"
    WitnessState(str(tmp_path / "disk"), 12, 1_000, "a fork", refused=True).write(home)
    found = check_witness(config, 61_000)
    assert (found.state, found.fix) == ("error", "handrail journal verify")
    assert "nothing yet" in check_witness(Config(home=home, witness="/elsewhere"), 0).text


def test_a_folder_that_is_not_there_is_not_made(
    handrail: Handrail, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_WITNESS", str(tmp_path / "disk"))
    done = handrail("journal", "checkpoint")
    assert (done.code, "not countersigned" in done.err) == (0, True)
    assert not (tmp_path / "disk").exists(), "an unmounted disk must not look like an empty one"
    (tmp_path / "disk").mkdir()
    assert handrail("journal", "checkpoint").err == ""
    monkeypatch.setenv("HANDRAIL_WITNESS", "ftp://elsewhere")
    assert handrail("journal", "checkpoint").code == 2
    monkeypatch.setenv("HANDRAIL_WITNESS", "http://127.0.0.1:1")
    monkeypatch.setenv("HANDRAIL_WITNESS_KEY", "nonsense")
    assert handrail("journal", "checkpoint").code == 2


@contextmanager
def witness(home: Path, *options: str) -> Iterator[dict[str, str]]:
    """The real command in a process of its own; what it prints are lines for the environment."""
    command = [sys.executable, "-m", "handrail.cli.main", "witness", "serve", "--port", "0", *options]
    environment = {**os.environ, "HANDRAIL_HOME": str(home)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert select.select([process.stdout], [], [], 30)[0]
            yield dict(process.stdout.readline().strip().split("=", 1) for _ in range(2))
        finally:
            process.send_signal(signal.SIGTERM)
    assert process.returncode == 0


@pytest.mark.slow
def test_a_second_machine_countersigns(
    handrail: Handrail, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "key"
    key.write_text(handrail("journal", "key").out)
    with witness(tmp_path / "second", "--key", str(key)) as printed:
        for name, value in printed.items():
            monkeypatch.setenv(name, value)
        signed = handrail("journal", "checkpoint")
        assert signed.out.count("\u2014") == 2
        proof = str(tmp_path / "proof")
        handrail("journal", "prove", "1", "--out", proof)
        both = ("--key", str(key), "--witness", printed["HANDRAIL_WITNESS_KEY"])
        assert handrail("journal", "verify-proof", proof, *both).code == 0
        rows = rows_of(home)
        rewrite(home, [*rows[:6], *rows[7:]])
        done = handrail("journal", "verify")
        assert done.out.startswith("BROKEN at entry 7:")
        done = handrail("journal", "checkpoint")
        assert (done.code, "VERIFICATION_FAILED" in done.err) == (1, True), "the witness refuses the fork"
    assert (tmp_path / "second" / "keys" / "witness.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("home")
def test_a_witness_for_others_needs_tls_and_every_witness_keys(handrail: Handrail, tmp_path: Path) -> None:
    key = handrail("journal", "key").out.strip()
    assert handrail("witness", "serve").code == 2
    done = handrail("witness", "serve", "--key", key, "--host", "0.0.0.0")
    assert (done.code, "there is no TLS" in done.err) == (2, True)
    assert handrail("witness", "serve", "--key", str(tmp_path / "nowhere")).code == 2
    assert handrail("witness", "serve", "--key", key, "--tls-cert", __file__).code == 2
    assert handrail("witness", "key").out.startswith("handrail/witness/")


@pytest.mark.slow
def test_a_witness_that_others_can_reach_speaks_tls_and_a_false_certificate_is_not_believed(
    handrail: Handrail, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cert, secret = certificate(tmp_path, "127.0.0.1")
    key = handrail("journal", "key").out.strip()
    tls = ("--tls-cert", str(cert), "--tls-key", str(secret))
    with witness(tmp_path / "second", "--key", key, "--host", "0.0.0.0", *tls) as printed:
        address = printed["HANDRAIL_WITNESS"].replace("0.0.0.0", "127.0.0.1")
        assert address.startswith("https://")
        monkeypatch.setenv("HANDRAIL_WITNESS", address)
        done = handrail("journal", "checkpoint")
        assert ("certificate verify failed" in done.err, done.out.count("\u2014")) == (True, 1)
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
        assert handrail("journal", "checkpoint").out.count("\u2014") == 2
        assert handrail("journal", "verify").code == 0
