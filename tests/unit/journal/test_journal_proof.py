"""The proof of one action, for somebody who has no journal; and the key that it hangs on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from handrail.errors import InvalidAction
from handrail.journal.journal import Journal
from handrail.journal.merkle import BadProof
from handrail.journal.proof import ActionProof
from handrail.journal.signed_log import JournalLog, Rewritten
from handrail.journal.signed_note import LOG, BadNote, SigningKey
from handrail.journal.signing_key import HandOver, KeyRefused, keys_for, keys_trusted_through
from tests.unit.journal.journalist import act, with_journal, write_actions
from tests.unit.journal.rewriter import rows_of


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Twelve actions whose entries stand between each other's, and one entry of no action."""

    async def work(journal: Journal) -> None:
        for number in range(1, 13):
            for kind in ("accepted", "resolved"):
                journal.note({"kind": kind, "action_id": f"tap_{number}", "what": f"secret of {number}"})
        await journal.seal({"kind": "stop", "who": "a person"})
        for number in range(12, 0, -1):
            await journal.seal({"kind": "verified", "action_id": f"tap_{number}", "terminal": True})

    with_journal(tmp_path, work)
    return tmp_path


@pytest.fixture
def log(home: Path) -> Iterator[JournalLog]:
    log = JournalLog(home)
    yield log
    log.close()


def test_an_action_is_proved_with_all_its_entries_and_nothing_of_others(log: JournalLog) -> None:
    text = str(log.prove("tap_3"))
    read = ActionProof.parse(text.encode())
    read.check([log.signer().verifier])
    assert [one.seq for one in read.entries] == [5, 6, 35]
    assert [one.event["kind"] for one in read.entries] == ["accepted", "resolved", "verified"]
    assert text.count("secret of") == 2
    assert "tap_4" not in text
    assert str(read) == text


def test_an_entry_of_no_action_is_proved_by_its_number(log: JournalLog) -> None:
    proof = log.prove(25)
    proof.check([log.signer().verifier])
    assert (proof.action_id, proof.entries[0].event["who"]) == (None, "a person")


def test_an_unknown_action_is_an_error(log: JournalLog) -> None:
    with pytest.raises(InvalidAction, match="no action or entry tap_99"):
        log.prove("tap_99")


def test_an_action_after_the_checkpoint_is_proved_with_a_newer_one(home: Path, log: JournalLog) -> None:
    assert log.prove("tap_3").place.signed.checkpoint.size == 37
    write_actions(home, 1)
    assert log.prove("tap_3").place.signed.checkpoint.size == 37, "the old one still holds it"
    assert log.prove("tap_1710000000000_1").place.signed.checkpoint.size == 41


def test_an_entry_left_out_put_in_or_moved_is_refused(log: JournalLog) -> None:
    whole, key = log.prove("tap_3"), log.signer().verifier
    other = log.prove("tap_4")
    first, second, last = whole.entries
    for entries in (
        (first, last),
        (second, last),
        (last,),
        (second, first, last),
        (first, first, second, last),
        (*whole.entries, other.entries[-1]),
        (other.entries[0], second, last),
    ):
        with pytest.raises((BadNote, BadProof)):
            ActionProof(entries, whole.place).check([key])
    with pytest.raises(BadNote):
        ActionProof(whole.entries, other.place).check([key])


def test_a_proof_with_one_changed_letter_never_verifies(log: JournalLog) -> None:
    whole, key = str(log.prove("tap_3")).encode(), log.signer().verifier
    random = Random(3)
    for _ in range(1_000):
        spoiled = bytearray(whole)
        spoiled[random.randrange(len(spoiled))] = random.choice(b'0aZ+/= \n"{}\xe2')
        if spoiled != whole:
            with pytest.raises((BadNote, BadProof)):
                ActionProof.parse(bytes(spoiled)).check([key])
    for _ in range(300):
        start = random.randrange(len(whole))
        with pytest.raises((BadNote, BadProof)):
            ActionProof.parse(whole[:start] + whole[start + random.randrange(1, 200) :]).check([key])


def test_only_the_journals_own_key_counts(log: JournalLog) -> None:
    proof = log.prove("tap_3")
    for name in (log.signer().name, "handrail/journal/another"):
        with pytest.raises(BadNote):
            proof.check([SigningKey.make(name, LOG).verifier])


def test_an_action_that_was_tampered_with_is_not_proved(home: Path, log: JournalLog) -> None:
    log.checkpoint()
    log._db.execute("UPDATE journal SET body = replace(body, 'secret', 'public') WHERE seq = 5")
    with pytest.raises(Rewritten):
        log.prove("tap_3")
    log.prove("tap_4")


def test_the_key_is_its_owners_and_is_refused_when_others_can_read_it(log: JournalLog) -> None:
    log.checkpoint()
    assert log.keys.path.stat().st_mode & 0o777 == 0o600
    assert log.keys.folder.stat().st_mode & 0o777 == 0o700
    for mode in (0o640, 0o604, 0o620):
        log.keys.path.chmod(mode)
        with pytest.raises(KeyRefused, match="can be read by others") as error:
            log.checkpoint()
        assert error.value.hint == f"chmod 600 {log.keys.path}"


def test_a_key_that_is_gone_or_damaged_is_not_replaced_in_silence(log: JournalLog) -> None:
    log.checkpoint()
    log.keys.path.write_text("nonsense")
    with pytest.raises(KeyRefused):
        log.checkpoint()
    log.keys.path.unlink()
    with pytest.raises(KeyRefused, match="is gone"):
        log.checkpoint()


def test_signatures_of_witnesses_are_kept_only_below_the_last_checkpoint(home: Path, log: JournalLog) -> None:
    assert log.keys.path == home / "keys" / "journal.key"
    first = log.checkpoint()
    witness = SigningKey.make("witness", LOG)
    signed = log.add_cosignatures(first, [witness.sign(first.note.text)])
    assert log.last() == signed != first
    write_actions(home, 1)
    second = log.checkpoint()
    late = log.add_cosignatures(first, [witness.sign(first.note.text)])
    assert (late.note, log.last()) == (signed.note, second)


def test_a_key_is_handed_over_and_followed(home: Path, log: JournalLog) -> None:
    first = log.checkpoint()
    made = log.rotate_key()
    write_actions(home, 1)
    second = log.checkpoint()
    assert second.checkpoint.origin == first.checkpoint.origin
    again = log.rotate_key()
    trusted = keys_trusted_through([made.old], [again, made])
    assert trusted == log.keys.trusted()
    assert list(trusted.values()) == [37, 41, None]
    second.check(keys_for(trusted, 41))
    with pytest.raises(BadNote):
        second.check([made.old])
    assert keys_for(trusted, 100) == [again.new], "an old key signs nothing that came later"
    assert keys_trusted_through([made.old], [again]) == {made.old: None}, "a link of the chain is missing"


def test_a_hand_over_needs_both_signatures_and_is_made_once(log: JournalLog) -> None:
    old = log.signer()
    seen = log.checkpoint().checkpoint
    thief, heir = SigningKey.make(old.name, LOG), SigningKey.make(old.name, LOG)
    made, forged = HandOver.make(old, heir, seen), HandOver.make(thief, heir, seen)
    text = str(made.note)
    assert HandOver.parse(text) == made
    for spoiled in (
        text[: text.rindex("\u2014")],
        text.replace(str(made.old), str(forged.old)),
        text.replace("size 37", "size 38"),
        str(log.checkpoint()),
    ):
        with pytest.raises(BadNote):
            HandOver.parse(spoiled)
    with pytest.raises(BadNote, match="handed over twice"):
        keys_trusted_through([made.old], [made, HandOver.make(old, thief, seen)])
    with pytest.raises(BadNote, match="name"):
        HandOver.parse(str(HandOver.make(old, SigningKey.make("another", LOG), seen).note))


def test_a_hand_over_that_was_interrupted_is_finished_or_forgotten(log: JournalLog) -> None:
    log.checkpoint()
    old = log.signer()
    following = log.keys.folder / "journal.key.next"
    following.write_text(f"{SigningKey.make(old.name, LOG)}\n")
    following.chmod(0o600)
    assert log.signer() == old, "the note was not written yet"
    made = log.rotate_key()
    log.keys.path.rename(following)
    log.keys.path.write_text(f"{old}\n")
    log.keys.path.chmod(0o600)
    assert log.signer().verifier == made.new, "the note was written, the key not yet put in its place"


def test_what_is_proved_stands_in_the_journal(home: Path, log: JournalLog) -> None:
    proof = log.prove("tap_3")
    assert [json.loads(rows_of(home)[one.seq - 1][1]) for one in proof.entries] == [
        one.event for one in proof.entries
    ]


def test_the_place_of_a_proof_is_small_however_far_its_entries_are_apart(tmp_path: Path) -> None:
    async def work(journal: Journal) -> None:
        for number in range(1, 400):
            journal.note({"kind": "step", "action_id": f"tap_{number % 3}"})
            await act(journal, number)

    with_journal(tmp_path, work)
    log = JournalLog(tmp_path)
    proof = log.prove("tap_1")
    log.close()
    assert len(proof.entries) == 133
    assert len(str(proof.place)) < 1_000
