"""`handrail journal`, the part for strangers: verify, checkpoint, prove, compare, and the journal's key."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.journal import as_json, journal, opened_journal, written_home
from handrail.cli.output import print_json, read_input
from handrail.clock import SystemClock
from handrail.engine.journal.head import Head
from handrail.errors import InvalidAction, VerificationFailed

if TYPE_CHECKING:
    from handrail.engine.journal.kept import KeptCheckpoint
    from handrail.engine.journal.key import Trusted
    from handrail.engine.journal.log import JournalLog
    from handrail.engine.journal.verify import ChainVerdict
    from handrail.transparency.note import VerifierKey

key_option = click.option(
    "--key", "keys", multiple=True, metavar="KEY|FILE", help="The journal's public key; may be repeated."
)
hand_over_option = click.option(
    "--hand-over", "hand_overs", multiple=True, metavar="FILE", help="A note that names the key after it."
)


@contextmanager
def _opened_log() -> Iterator[JournalLog]:
    from handrail.engine.journal.log import JournalLog  # noqa: PLC0415  (keys)

    with written_home() as config:
        log = JournalLog(config.home, _progress)
        try:
            yield log
        finally:
            log.close()


def _progress(done: int, of: int) -> None:
    """Where a journal is large and was written without a tree."""
    if of - done > 20_000 and done % 10_240 < 512 and sys.stderr.isatty():
        click.echo(f"taking up old entries: {done:,} of {of:,}", err=True)


def read_keys(given: tuple[str, ...], what: str = "key") -> list[VerifierKey]:
    """Keys as they are, or files with one a line."""
    from handrail.transparency.note import BadNote, VerifierKey  # noqa: PLC0415

    found: list[VerifierKey] = []
    for one in given:
        text = one if one.count("+") >= 2 else read_input(one).decode("utf-8", "replace")
        try:
            found += [VerifierKey.parse(line) for line in text.splitlines() if line.strip()]
        except BadNote as error:
            raise InvalidAction(
                f"{one[:80]} is no public key: {error}",
                hint="Give the line that `handrail journal key` prints, or a file with it.",
                path=what,
            ) from None
    return found


def _trusted(keys: tuple[str, ...], hand_overs: tuple[str, ...], log: JournalLog | None = None) -> Trusted:
    """The given keys and those that they were handed over to; this home's own where none is given."""
    from handrail.engine.journal.key import HandOver, follow  # noqa: PLC0415
    from handrail.transparency.note import BadNote  # noqa: PLC0415

    try:
        notes = [HandOver.parse(read_input(name)) for name in hand_overs]
        if log is not None:
            notes += log.keys.hand_overs()
        return follow(read_keys(keys), notes) if keys or log is None else log.keys.trusted()
    except BadNote as error:
        raise InvalidAction(str(error), hint="Give hand-overs as `rotate-key` wrote them.") from None


@journal.command()
@click.option("--head", "kept", metavar="COUNT:HASH", help="A head printed earlier and kept elsewhere.")
@click.option(
    "--checkpoint",
    "files",
    multiple=True,
    metavar="FILE",
    help="A checkpoint kept elsewhere; may be repeated.",
)
@key_option
@click.option("--no-blobs", is_flag=True, help="Do not read the stored trees and pictures.")
@as_json
@click.pass_context
def verify(
    ctx: click.Context,
    kept: str | None,
    files: tuple[str, ...],
    keys: tuple[str, ...],
    no_blobs: bool,
    as_json: bool,
) -> None:
    """Prove that no entry was changed, removed or added; exits with 1 and names the first bad one.

    The witness of HANDRAIL_WITNESS is asked, too. Without a witness or a checkpoint that was kept elsewhere,
    whoever has the home and its key can rewrite the past so that it fits.
    """
    head = Head.parse(kept) if kept else None
    if kept and head is None:
        raise InvalidAction(f"{kept} is no head", hint="Give COUNT:HASH as `verify` printed it.", path="head")
    elsewhere = _kept(files, keys)
    with opened_journal() as opened:
        verdict = opened.verify(head, blobs=not no_blobs, elsewhere=elsewhere)
    if as_json:
        print_json({**asdict(verdict), "head": verdict.head})
    else:
        _say(verdict)
    ctx.exit(0 if verdict.ok else 1)


def _kept(files: tuple[str, ...], keys: tuple[str, ...]) -> list[KeptCheckpoint]:
    from handrail.engine.journal.kept import KeptCheckpoint  # noqa: PLC0415
    from handrail.engine.journal.key import keys_for  # noqa: PLC0415

    found = [KeptCheckpoint.read(Path(name)) for name in files]
    if keys:
        trusted = _trusted(keys, ())
        for one in found:
            _check(one.signed.check, keys_for(trusted, one.size), one.where)
    return found


def _say(verdict: ChainVerdict) -> None:
    for warning in verdict.warnings:
        click.echo(f"warning: {warning}", err=True)
    if not verdict.ok:
        click.echo(f"BROKEN at entry {verdict.first_bad}: {verdict.why}")
        return
    click.echo(f"ok: {verdict.count} entries, head {verdict.head}")
    for one in verdict.agrees:
        click.echo(f"agrees with {one}", err=True)


def _check(check: Any, keys: list[VerifierKey], what: str) -> None:
    """A signature or a proof that is not good is a refusal of its own, with exit code 1."""
    from handrail.transparency.merkle import BadProof  # noqa: PLC0415
    from handrail.transparency.note import BadNote  # noqa: PLC0415

    try:
        check(keys)
    except (BadNote, BadProof) as error:
        raise VerificationFailed(f"{what} proves nothing: {error}", hint="Do not rely on it.") from None


@journal.command()
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it here, with its leaves."
)
@click.option("--leaves/--no-leaves", default=True, help="With --out: also FILE.leaves, which names entries.")
@as_json
def checkpoint(out: Path | None, leaves: bool, as_json: bool) -> None:
    """Print the journal's signed head; keep it elsewhere.

    With HANDRAIL_WITNESS it is countersigned first. FILE.leaves holds a hash of 32 bytes for every entry, by
    which `verify --checkpoint FILE` names the very entry that was changed first.
    """
    from handrail.engine.journal.kept import LEAVES, replace_durably  # noqa: PLC0415

    with _opened_log() as log:
        signed = _cosigned(log)
        if out is not None:
            if leaves:
                data = log.leaf_hashes(0, signed.checkpoint.size)
                _write(lambda: replace_durably(out.with_name(out.name + LEAVES), data), out)
            _write(lambda: replace_durably(out, str(signed).encode()), out)
    seen = signed.checkpoint
    if as_json:
        print_json({"origin": seen.origin, "size": seen.size, "root": seen.root.hex(), "note": str(signed)})
    elif out is None:
        click.echo(str(signed), nl=False)
    else:
        click.echo(f"{out}: {seen.size} entries", err=True)


def _cosigned(log: JournalLog) -> Any:
    from handrail.config import Config  # noqa: PLC0415
    from handrail.engine.journal.cosign import cosign  # noqa: PLC0415
    from handrail.engine.journal.journal import witness_of  # noqa: PLC0415
    from handrail.engine.journal.witnesses import WitnessAway, open_witness  # noqa: PLC0415

    config = Config.from_env(os.environ)
    if (place := witness_of(config)) is None:
        return log.checkpoint()
    try:
        return cosign(config.home, log, open_witness(*place), place[0], SystemClock())
    except WitnessAway as error:
        click.echo(f"warning: not countersigned: {error.message}", err=True)
        return log.checkpoint()


def _write(work: Any, path: Path) -> None:
    try:
        work()
    except OSError as error:
        raise InvalidAction(
            f"{path} can't be written: {error.strerror or error}", hint="Give another --out.", path="out"
        ) from None


@journal.command()
@click.argument("action", metavar="ID")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="A file.  [default: printed]")
def prove(action: str, out: Path | None) -> None:
    """Prove one action to a stranger: ID is an action's id, or the number of one of its entries.

    The proof holds the entries of this action and nothing of others, and it needs no journal to be checked.
    """
    from handrail.engine.journal.kept import replace_durably  # noqa: PLC0415

    with _opened_log() as log:
        proof = str(log.prove(action))
    if out is None:
        click.echo(proof, nl=False)
    else:
        _write(lambda: replace_durably(out, proof.encode()), out)


@journal.command("verify-proof")
@click.argument("file")
@key_option
@hand_over_option
@click.option(
    "--witness", "witnesses", multiple=True, metavar="KEY|FILE", help="This witness must have signed."
)
@as_json
def verify_proof(
    file: str, keys: tuple[str, ...], hand_overs: tuple[str, ...], witnesses: tuple[str, ...], as_json: bool
) -> None:
    """Check the proof of one action in FILE (or - for stdin), without any journal."""
    from handrail.engine.journal.key import keys_for  # noqa: PLC0415
    from handrail.engine.journal.proof import ActionProof  # noqa: PLC0415
    from handrail.transparency.note import BadNote  # noqa: PLC0415

    if not keys:
        raise InvalidAction(
            "whose journal?", path="key", hint="--key KEY: the line that `handrail journal key` prints there."
        )
    trusted = _trusted(keys, hand_overs)
    try:
        proof = ActionProof.parse(read_input(file))
    except BadNote as error:
        raise InvalidAction(
            f"{file} is no proof: {error}",
            path="file",
            hint="Give a file of `handrail journal prove`.",
        ) from None
    seen = proof.place.signed.checkpoint
    _check(proof.check, keys_for(trusted, seen.size), file)
    for key in read_keys(witnesses, "witness"):
        _check(proof.place.signed.note.check, [key], f"{file}, without the witness {key.name},")
    entries = [{"seq": one.seq, "at_ms": one.at_ms, **one.event} for one in proof.entries]
    if as_json:
        known = {"ok": True, "action_id": proof.action_id, "origin": seen.origin, "size": seen.size}
        print_json({**known, "events": entries})
        return
    numbers = ", ".join(str(one.seq) for one in proof.entries)
    click.echo(f"proved: {proof.action_id or 'an entry'}: entries {numbers} of {seen.size} in {seen.origin}")


@journal.command()
@click.argument("old", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("new", type=click.Path(dir_okay=False, path_type=Path))
@key_option
def consistency(old: Path, new: Path, keys: tuple[str, ...]) -> None:
    """Prove from the journal that checkpoint NEW only added to checkpoint OLD; exits with 1 if it did not."""
    from handrail.engine.journal.kept import KeptCheckpoint  # noqa: PLC0415
    from handrail.engine.journal.key import keys_for  # noqa: PLC0415
    from handrail.transparency import merkle  # noqa: PLC0415

    older, newer = KeptCheckpoint.read(old), KeptCheckpoint.read(new)
    if older.size > newer.size:
        raise InvalidAction(f"{old} is newer than {new}", hint="Give the older one first.", path="old")
    with _opened_log() as log:
        trusted = _trusted(keys, (), log)
        for one in (older, newer):
            _check(one.signed.check, keys_for(trusted, one.size), one.where)
        path = log.consistency(older.size, newer.size)

    def compare(_: list[VerifierKey]) -> None:
        merkle.check_consistency(older.size, newer.size, path, older.root, newer.root)

    _check(compare, [], f"{new} does not continue {old}: the journal")
    click.echo(f"ok: {newer.size} entries begin with the {older.size} of {old}; {len(path)} hashes prove it")


@journal.command()
@click.option("--hand-overs", is_flag=True, help="Also the notes by which earlier keys named later ones.")
def key(hand_overs: bool) -> None:
    """Print the journal's public key: what others need to check its checkpoints and proofs."""
    with _opened_log() as log:
        log.checkpoint()
        click.echo(str(log.signer().verifier))
        for one in log.keys.hand_overs() if hand_overs else ():
            click.echo(f"\n{one.note}", nl=False)


@journal.command("rotate-key")
def rotate_key() -> None:
    """Replace the journal's key: the old one signs the new one, and the journal says so."""
    with _opened_log() as log:
        made = log.rotate_key()
    event = {"kind": "key_handed_over", "note": str(made.note)}
    with opened_journal() as opened:
        asyncio.run(opened.seal(event))
    with _opened_log() as log:
        log.checkpoint()
    click.echo(str(made.new))
    click.echo(f"The old key counts up to entry {made.size}. Give the new one to your witness.", err=True)
