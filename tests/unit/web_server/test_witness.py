"""A witness on a port: the protocol to the letter, forks refused, what it signed kept over restarts."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from urllib.parse import quote

import pytest

from handrail.bind import listen
from handrail.clock import SystemClock
from handrail.journal.checkpoint import Checkpoint, SignedCheckpoint
from handrail.journal.journal import Journal
from handrail.journal.signed_log import JournalLog
from handrail.journal.signed_note import LOG, WITNESS, Note, Signature, SigningKey, VerifierKey
from handrail.journal.verify import ChainVerdict
from handrail.journal.witnesses import (
    AddCheckpoint,
    HttpWitness,
    WitnessAway,
    WitnessRefused,
    WitnessState,
    cosign,
)
from handrail.sync.openers import OpenBlock
from handrail.web_server.auth import HostRules, served_hosts
from handrail.web_server.server import serving
from handrail.web_server.witness_server import Witness, build_witness
from handrail_sim.clock import ManualClock
from tests.unit.adb.phones import until
from tests.unit.journal import naive
from tests.unit.journal.journalist import act, with_journal, write_actions
from tests.unit.journal.rewriter import copy_of, first_difference, rewrite, rows_of, tampered

ORIGIN = "example.org/log"
LOG_KEY = SigningKey.make(ORIGIN, LOG)
OWN_KEY = SigningKey.make("example.org/witness", WITNESS)
LEAVES = [naive.leaf(bytes([number])) for number in range(64)]
FORK = [*LEAVES[:5], naive.leaf(b"another"), *LEAVES[6:]]

HASH_LINE = b"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"


@contextmanager
def served(folder: Path, keys: Callable[[], list[VerifierKey]]) -> Iterator[str]:
    """Its address, while the block runs. The server has a loop and a thread of its own."""
    bound = listen("127.0.0.1", 0)
    port = bound.getsockname()[1]
    app = build_witness(
        Witness(folder, OWN_KEY, keys, SystemClock()), HostRules(served_hosts("127.0.0.1", port))
    )
    with closing(OpenBlock(serving(app, bound))):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with served(tmp_path / "witness", lambda: [LOG_KEY.verifier]) as place:
        yield place


def ask(
    address: str, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.getheader("content-type", ""), answer.read()
    finally:
        connection.close()


def request(
    size: int, old: int = 0, leaves: list[bytes] = LEAVES, key: SigningKey = LOG_KEY, origin: str = ORIGIN
) -> AddCheckpoint:
    seen = Checkpoint(origin, size, naive.root(leaves[:size]))
    path = naive.proof(old, leaves[:size]) if 0 < old < size else []
    return AddCheckpoint(old, tuple(path), SignedCheckpoint(seen, Note.signed(seen.text, key)))


def add(address: str, asked: AddCheckpoint | bytes) -> tuple[int, str, bytes]:
    body = asked if isinstance(asked, bytes) else str(asked).encode()
    return ask(address, "POST", "/add-checkpoint", body)


def test_a_log_that_grows_is_countersigned(address: str) -> None:
    for old, size in ((0, 1), (1, 5), (5, 5), (5, 16), (16, 64)):
        asked = request(size, old)
        status, _, body = add(address, asked)
        assert status == 200, body
        line = Signature.parse(body.decode().removesuffix("\n"))
        signed = Note(asked.signed.note.text, (line,)).signers([OWN_KEY.verifier])
        assert next(iter(signed.values())) is not None, "with the time"


def test_another_size_than_it_has_is_a_conflict_that_tells_the_size(address: str) -> None:
    add(address, request(16))
    for old in (0, 5, 15):
        assert add(address, request(32, old)) == (409, "text/x.tlog.size", b"16\n")
    assert add(address, request(12, 12)) == (409, "text/x.tlog.size", b"16\n"), "a smaller tree"


def test_a_fork_is_refused_whatever_its_proof(address: str) -> None:
    assert add(address, request(16))[0] == 200
    assert add(address, request(32, 16, FORK))[0] == 422
    assert add(address, request(16, 16, FORK)) == (409, "text/x.tlog.size", b"16\n")
    honest = request(32, 16)
    forked = request(32, 16, FORK)
    assert add(address, AddCheckpoint(16, honest.path, forked.signed))[0] == 422
    assert add(address, AddCheckpoint(16, (), honest.signed))[0] == 422
    assert add(address, honest)[0] == 200, "and the log itself goes on"


def test_who_is_unknown_or_signed_badly_is_refused(address: str) -> None:
    assert add(address, request(4, origin="example.org/other"))[0] == 404
    assert add(address, request(4, key=SigningKey.make(ORIGIN, LOG)))[0] == 403
    good = request(4)
    spoiled = Note(good.signed.note.text, (Signature(ORIGIN, LOG_KEY.verifier.id, bytes(64)),))
    assert add(address, AddCheckpoint(0, (), SignedCheckpoint(good.signed.checkpoint, spoiled)))[0] == 403
    with_stranger = good.signed.note.with_signatures([SigningKey.make("stranger", LOG).sign("x")])
    assert (
        add(address, AddCheckpoint(0, (), SignedCheckpoint(good.signed.checkpoint, with_stranger)))[0] == 200
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"old\n\n",
        b"old 01\n\n" + str(request(4).signed).encode(),
        b"old -1\n\n" + str(request(4).signed).encode(),
        b"old 5\n\n" + str(request(4).signed).encode(),
        b"old 0\nnot base64\n\n" + str(request(4).signed).encode(),
        b"old 0\n" + HASH_LINE * 64 + b"\n" + str(request(4).signed).encode(),
        str(request(4).signed).encode(),
        b"old 0\n\nnonsense\n",
        b"\xff\xfe",
    ],
)
def test_what_is_no_request_is_a_bad_request(address: str, body: bytes) -> None:
    assert add(address, body)[0] == 400


def test_a_body_that_is_too_long_is_not_read(address: str) -> None:
    assert add(address, b"old 0\n" + b"x" * 100_000)[0] == 413
    assert ask(address, "GET", "/add-checkpoint")[0] == 405
    assert ask(address, "GET", "/elsewhere")[0] == 404


def test_pages_of_other_sites_have_no_business_here(address: str) -> None:
    assert ask(address, "GET", "/key", Host="evil.example")[0] == 421
    assert ask(address, "POST", "/add-checkpoint", b"", Origin="https://evil.example")[0] == 403


def test_what_it_signed_is_there_after_a_restart(tmp_path: Path) -> None:
    for old, size in ((0, 16), (16, 40)):
        with served(tmp_path, lambda: [LOG_KEY.verifier]) as address:
            assert add(address, request(size, old))[0] == 200
    with served(tmp_path, lambda: [LOG_KEY.verifier]) as address:
        assert add(address, request(64, 0)) == (409, "text/x.tlog.size", b"40\n")
        next(tmp_path.glob("*/checkpoint")).write_text("damaged")
        assert add(address, request(64, 40))[0] == 500, "who forgets may not begin anew"


def test_of_many_at_once_one_is_signed(address: str) -> None:
    add(address, request(1))
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda size: add(address, request(size, 1))[0], range(20, 36)))
    assert sorted(answers) == [200, *[409] * 15]


def test_leaves_are_kept_only_where_they_fit_the_last_checkpoint(address: str) -> None:
    place = f"/leaves?origin={quote(ORIGIN, safe='')}"
    add(address, request(16))
    send = lambda first, leaves: ask(address, "POST", f"{place}&first={first}", b"".join(leaves))[0]  # noqa: E731
    assert send(0, FORK[:16]) == 422
    assert send(0, LEAVES[:15]) == 409
    assert send(0, LEAVES[:17]) == 413
    assert send(1, LEAVES[1:16]) == 409
    assert ask(address, "GET", f"{place}&count=1")[2] == b"0\n"
    assert send(0, LEAVES[:16]) == 200
    add(address, request(40, 16))
    assert send(16, LEAVES[16:40]) == 200
    assert ask(address, "GET", f"{place}&count=1")[2] == b"40\n"
    assert ask(address, "GET", f"{place}&first=10&most=20")[2] == b"".join(LEAVES[10:30])
    assert ask(address, "GET", f"{place}&first=90&most=20")[2] == b""
    assert ask(address, "GET", f"{place}&first=x&most=20")[0] == 400
    assert ask(address, "POST", "/leaves?origin=nobody&first=0", b"")[0] == 404


# the journal's own side


def cosigned(home: Path, address: str, key: VerifierKey | None = None) -> SignedCheckpoint:
    log = JournalLog(home)
    try:
        return cosign(home, log, HttpWitness(address, key), address, ManualClock())
    finally:
        log.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_actions(tmp_path / "home", 5)
    return tmp_path / "home"


@pytest.fixture
def witness(tmp_path: Path, home: Path) -> Iterator[str]:
    log = JournalLog(home)
    key = log.signer().verifier
    log.close()
    with served(tmp_path / "witness", lambda: [key]) as address:
        yield address


def verdict(home: Path, address: str) -> ChainVerdict:
    async def work(journal: Journal) -> ChainVerdict:
        return journal.verify()

    return with_journal(home, work, witness=(address, None))


def test_a_journal_is_countersigned_as_it_grows(home: Path, witness: str) -> None:
    for size in (20, 24, 28):
        for _ in range(2):  # also when nothing is new
            assert cosigned(home, witness).note.signers([OWN_KEY.verifier])
            assert WitnessState.read(home, witness).size == size
        assert verdict(home, witness).agrees[-1] == f"{witness}: {size} entries"
        write_actions(home, 1)


def test_the_witness_names_the_first_changed_entry_and_refuses_the_fork(
    home: Path, witness: str, tmp_path: Path
) -> None:
    cosigned(home, witness)
    random, before = Random(5), rows_of(home)
    for _ in range(5):
        copy = copy_of(home, tmp_path / "copy")
        rows = tampered(before, random)
        if (first := first_difference(before, rows)) > len(before):
            continue  # it only added to it
        rewrite(copy, rows)
        assert verdict(copy, witness).first_bad == first
        with pytest.raises(WitnessRefused):
            cosigned(copy, witness)
        assert WitnessState.read(copy, witness).refused
    assert cosigned(home, witness), "the true journal goes on"


def test_a_witness_that_is_away_is_told_later(home: Path, tmp_path: Path) -> None:
    log = JournalLog(home)
    key = log.signer().verifier
    log.close()
    with served(tmp_path / "witness", lambda: [key]) as address:
        pass
    with pytest.raises(WitnessAway):
        cosigned(home, address)
    state = WitnessState.read(home, address)
    assert (state.size, state.refused) == (0, False)
    assert "refused" in str(state.why)
    assert address in verdict(home, address).warnings[0]


def test_a_process_tells_an_http_witness_in_the_background(home: Path, witness: str) -> None:
    async def work(journal: Journal) -> None:
        for number in range(50, 53):
            await act(journal, number)
        await until(lambda: WitnessState.read(home, witness).size == 32)

    with_journal(home, work, witness=(witness, OWN_KEY.verifier))


def test_a_witness_with_another_key_than_was_given_is_not_believed(home: Path, witness: str) -> None:
    with pytest.raises(WitnessAway, match="without a signature"):
        cosigned(home, witness, SigningKey.make("somebody", WITNESS).verifier)
    with pytest.raises(WitnessAway, match="without a signature"):
        cosigned(home, witness, SigningKey.make(OWN_KEY.name, WITNESS).verifier)


def test_a_rotated_key_is_refused_until_the_witness_knows_it(home: Path, tmp_path: Path) -> None:
    log = JournalLog(home)
    known = [log.signer().verifier]
    with served(tmp_path / "witness", lambda: known) as address:
        cosigned(home, address)
        made = log.rotate_key()
        log.close()
        write_actions(home, 1)
        with pytest.raises(WitnessAway, match="403"):
            cosigned(home, address)
        known.append(made.new)
        cosigned(home, address)
    assert WitnessState.read(home, address).size == 24
