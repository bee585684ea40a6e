"""Programs of other makes read what Handrail signs, and a witness of another make countersigns it.

`make venv` installs none of them, so each runs when it is named. `HANDRAIL_GO` is a Go compiler that finds
golang.org/x/mod (Debian: golang-go and golang-golang-x-mod-dev, with GO111MODULE=off and
GOPATH=/usr/share/gocode). `HANDRAIL_AICS` is the folder with `aics-tlog` and `aics-witness` (PyPI:
aics-witness, for Python 3.12 or newer).
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from handrail.clock import SystemClock
from handrail.journal.signed_log import JournalLog
from handrail.journal.signed_note import VerifierKey, to_base64
from handrail.journal.witnesses import HttpWitness, WitnessRefused, cosign
from tests.unit.journal.journalist import write_actions
from tests.unit.journal.rewriter import rewrite, rows_of

GO = os.environ.get("HANDRAIL_GO", "")
AICS = Path(os.environ.get("HANDRAIL_AICS", "/"))
needs_go = pytest.mark.skipif(not GO, reason="HANDRAIL_GO names no Go compiler")
needs_aics = pytest.mark.skipif(not (AICS / "aics-tlog").exists(), reason="HANDRAIL_AICS has no aics-tlog")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_actions(tmp_path / "home", 75)
    return tmp_path / "home"


@pytest.fixture
def log(home: Path) -> Iterator[JournalLog]:
    log = JournalLog(home)
    yield log
    log.close()


def run(*command: object, stdin: str = "") -> tuple[int, str]:
    done = subprocess.run(
        [str(one) for one in command], input=stdin, capture_output=True, text=True, timeout=50
    )
    return done.returncode, done.stdout + done.stderr


@needs_go
def test_go_reads_checkpoints_and_checks_both_kinds_of_proofs(
    home: Path, log: JournalLog, tmp_path: Path
) -> None:
    program = tmp_path / "read_checkpoint"
    code, told = run(GO, "build", "-o", program, Path(__file__).parent / "read_checkpoint.go")
    assert code == 0, told
    old, new, proof = tmp_path / "old", tmp_path / "new", tmp_path / "proof"
    old.write_text(str(log.checkpoint()))
    write_actions(home, 30)
    new.write_text(str(log.checkpoint()))
    key, origin = log.signer().verifier, log.signer().name
    path = "".join(f"{to_base64(one)}\n" for one in log.consistency(300, 420))
    code, told = run(program, key, old, new, stdin=path)
    assert (code, told.splitlines()) == (
        0,
        [
            f"{origin} 300 signed by {origin}, 0 others",
            f"{origin} 420 signed by {origin}, 0 others",
            "consistent",
        ],
    )
    made = log.prove("tap_1710000000000_70")
    proof.write_text(str(made.place))
    assert run(program, key, proof, to_base64(made.leaf()))[1].endswith("included\n")
    assert run(program, key, proof, to_base64(bytes(32)))[0] == 1, "it does refuse"
    new.write_text(new.read_text().replace("420", "421"))
    assert run(program, key, old, new, stdin=path)[0] == 1


@contextmanager
def other_witness(folder: Path, log: JournalLog) -> Iterator[tuple[str, VerifierKey]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = folder / "witness.json"
    tool = AICS / "aics-witness"
    made = ("--name", "witness.example/w1", "--listen", f"127.0.0.1:{port}")
    code, told = run(tool, "init", "--config", config, *made)
    assert code == 0, told
    key = next(VerifierKey.parse(word) for word in told.split() if word.startswith("witness.example/w1+"))
    signer = log.signer()
    code, told = run(tool, "add-log", "-c", config, "--origin", signer.name, "--vkey", signer.verifier)
    assert code == 0, told
    with subprocess.Popen([tool, "serve", "-c", config], stderr=subprocess.DEVNULL) as process:
        try:
            until_listening(port)
            yield f"http://127.0.0.1:{port}", key
        finally:
            process.terminate()


def until_listening(port: int) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return


@needs_aics
def test_a_witness_of_another_make_countersigns_and_refuses_a_fork(
    home: Path, log: JournalLog, tmp_path: Path
) -> None:
    with other_witness(tmp_path, log) as (address, key):
        for size in (300, 304):
            signed = cosign(home, log, HttpWitness(address, key), address, SystemClock())
            assert (signed.checkpoint.size, list(signed.note.signers([key]))) == (size, [key])
            write_actions(home, 1)
        (tmp_path / "note").write_text(str(signed))
        both = ("--log-key", log.signer().verifier, "--witness-key", key, "--quorum", "1")
        code, told = run(AICS / "aics-tlog", "verify-checkpoint", "--note", tmp_path / "note", *both)
        assert code == 0, told
        rows = rows_of(home)
        rewrite(home, [*rows[:6], *rows[7:]])
        with pytest.raises(WitnessRefused):
            cosign(home, log, HttpWitness(address, key), address, SystemClock())
