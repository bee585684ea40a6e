"""Signed notes and checkpoints: what others wrote is read, what was changed is refused."""

from __future__ import annotations

from random import Random

import pytest

from handrail.journal.checkpoint import Checkpoint, SignedCheckpoint
from handrail.journal.proof import InclusionProof
from handrail.journal.signed_note import LOG, WITNESS, BadNote, Note, SigningKey, VerifierKey
from handrail.journal.witnesses import AddCheckpoint
from tests.cases import each

GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_SIGNATURE = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
GO_NOTE = f"""\
If you think cryptography is the answer to your problem,
then you don't know what your problem is.

\u2014 PeterNeumann {GO_SIGNATURE}
"""
"""The example of Go's `note` package."""
SEEN = Checkpoint("example.org/log", 7, bytes(range(32)))


def test_a_note_that_go_signed_is_read_and_its_key_comes_back_as_it_was() -> None:
    key = VerifierKey.parse(GO_KEY)
    assert str(key) == GO_KEY
    note = Note.parse(GO_NOTE.encode())
    assert note.signers([key]) == {key: None}
    assert str(note) == GO_NOTE
    with pytest.raises(BadNote, match="does not fit"):
        Note.parse(GO_NOTE.replace("problem", "task")).check([key])


def test_keys_are_read_as_they_were_written_and_nobody_sees_the_secret_by_accident() -> None:
    key = SigningKey.make("example.org/log", LOG)
    assert SigningKey.parse(f"{key}\n") == key
    assert VerifierKey.parse(str(key.verifier)) == key.verifier
    assert key.seed.hex() not in repr(key)


@pytest.mark.parametrize("kind", [LOG, WITNESS])
def test_a_checkpoint_that_was_changed_by_one_bit_anywhere_is_refused(kind: int) -> None:
    log, signer = SigningKey.make(SEEN.origin, LOG), SigningKey.make("example.org/w", kind)
    note = Note.signed(SEEN.text, log)
    whole = str(note.with_signatures([signer.sign(SEEN.text, 1_700_000_000)])).encode()
    random = Random(kind)
    for _ in range(500):
        spoiled = bytearray(whole)
        spoiled[random.randrange(len(spoiled))] ^= 1 << random.randrange(8)
        with pytest.raises(BadNote):
            checked(bytes(spoiled), log.verifier, signer.verifier)
    checked(whole, log.verifier, signer.verifier)


def checked(data: bytes, log: VerifierKey, other: VerifierKey) -> None:
    read = SignedCheckpoint.parse(data)
    read.check([log])
    read.note.check([other])


def test_a_witness_says_when_and_its_key_is_of_another_kind() -> None:
    witness = SigningKey.make("example.org/w", WITNESS)
    note = Note(SEEN.text, (witness.sign(SEEN.text, 1_700_000_000),))
    assert note.signers([witness.verifier]) == {witness.verifier: 1_700_000_000}
    as_log = VerifierKey(witness.name, LOG, witness.verifier.public)
    assert note.signers([as_log]) == {}, "a signature never counts as one of another kind"


def test_only_a_key_of_the_logs_own_name_signs_for_it() -> None:
    stranger = SigningKey.make("example.org/other", LOG)
    signed = SignedCheckpoint(SEEN, Note.signed(SEEN.text, stranger))
    with pytest.raises(BadNote, match="no key of example"):
        signed.check([stranger.verifier])
    other = SigningKey.make(SEEN.origin, LOG)
    with pytest.raises(BadNote, match="none of the keys"):
        signed.check([other.verifier])


@each(
    "text",
    [
        "",
        "a\n1\n",
        "a\n01\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
        "a\n-1\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
        "a\n1\nAAEC\n",
        "a\n1\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=\n",
        "a\n1\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n\nmore\n",
        "\n1\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
        "a\n9223372036854775808\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
    ],
)
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(BadNote):
        Checkpoint.parse(text)


@each(
    "data",
    [
        b"", b"text\n", b"text\n\n\xe2\x80\x94 name", b"text\n\n\xe2\x80\x94 name AAAA\n",
        b"text\n\n- name AAAAAAAA\n", b"te\rxt\n\n\xe2\x80\x94 name AAAAAAAA\n",
        b"\xff\n\n\xe2\x80\x94 name AAAAAAAA\n", b"text\n\n\xe2\x80\x94 na+me AAAAAAAA\n",
        b"text\n\n" + b"\xe2\x80\x94 name AAAAAAAA\n" * 101, b"x" * 2_000_000,
    ],
)  # fmt: skip
def test_what_is_no_note_is_refused(data: bytes) -> None:
    with pytest.raises(BadNote):
        Note.parse(data)


@each("text", ["", "a+b", "a+00000000+AAAA", GO_KEY.replace("c74f", "c74e"), "a b+c+d"])
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(BadNote):
        VerifierKey.parse(text)
    with pytest.raises(BadNote):
        SigningKey.parse(text)


@each(
    "text",
    ["", "c2sp.org/tlog-proof@v1\n\n", "c2sp.org/tlog-proof@v1\nindex x\n\nno", "c2sp.org/tlog-proof@v2\n\n"],
)
def test_what_is_no_proof_is_refused(text: str) -> None:
    with pytest.raises(BadNote):
        InclusionProof.parse(text)


@each("body", [b"old 1\nAAAA\n", b"new 1\n\nnote", b"1\n\nnote", b"old 1", b"\n\nnote", b"old \xff\n\nnote"])
def test_what_asks_a_witness_for_nothing_is_refused_before_its_note_is_read(body: bytes) -> None:
    with pytest.raises(BadNote, match=r"does not begin with a line `old SIZE`|not UTF-8"):
        AddCheckpoint.parse(body)


def test_a_proof_may_bring_extra_data_that_proves_nothing() -> None:
    key = SigningKey.make(SEEN.origin, LOG)
    made = InclusionProof(3, (bytes(32),), SignedCheckpoint(SEEN, Note.signed(SEEN.text, key)))
    with_extra = str(made).replace("\nindex", "\nextra AAAA\nindex", 1)
    assert InclusionProof.parse(with_extra) == InclusionProof.parse(str(made)) == made
