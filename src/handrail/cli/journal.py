"""`handrail journal`: what was done, by whom and why. And the proofs of it."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from handrail.cli.options import FILE, json_option
from handrail.cli.output import print_json, read_input, read_keys
from handrail.clock import SystemClock, iso_time
from handrail.config import Config, canonical
from handrail.device_names import DeviceNames
from handrail.errors import InvalidAction, VerificationFailed
from handrail.film.write import need_encoder, write_film
from handrail.flow.filming import journal_scenes
from handrail.flow.recording import flow_text
from handrail.journal import Journal, merkle
from handrail.journal.checkpoint import LEAVES, RememberedCheckpoint, replace_durably
from handrail.journal.head import Head
from handrail.journal.journal import witness_of
from handrail.journal.merkle import BadProof
from handrail.journal.proof import ActionProof
from handrail.journal.query import UNFINISHED, ActionRow, ShownAction, action_words
from handrail.journal.signed_log import JournalLog
from handrail.journal.signed_note import BadNote, VerifierKey
from handrail.journal.signing_key import HandOver, Trusted, keys_for, keys_trusted_through
from handrail.journal.witnesses import WitnessAway, cosign, open_witness
from handrail.protocol.read import action_from
from handrail.protocol.sentence import sentence_of
from handrail.screen.text import clean, cut, quoted
from handrail.store import store_error

as_json = json_option("Machine output.")


@contextmanager
def open_journal() -> Iterator[Journal]:
    with home_with_journal() as config:
        journal = Journal.open(config.home, SystemClock(), witness=witness_of(config))
        try:
            yield journal
        finally:
            asyncio.run(journal.close())


@contextmanager
def home_with_journal() -> Iterator[Config]:
    """Raises where no journal was written: an empty one would prove nothing."""
    config = Config.from_env(os.environ)
    if not config.db.exists():
        hint = "Set HANDRAIL_HOME to the folder of the journal; the first action makes one."
        raise InvalidAction(f"no journal in {config.home}", hint=hint, path="HANDRAIL_HOME")
    try:
        yield config
    except sqlite3.DatabaseError as error:
        raise store_error(error, f"{config.db} can't be read", config.db) from None


class _MomentType(click.ParamType[int]):
    """A moment as ISO 8601 or epoch milliseconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int) or str(value).isdecimal():
            return int(value)
        with suppress(ValueError):
            moment = datetime.fromisoformat(value)
            return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
        return self.fail(f"{value} is neither 2026-01-31T12:00 nor milliseconds since 1970", param, ctx)


@click.group()
def journal() -> None:
    """Show what was done, by whom and why, and prove that nothing was changed."""


since_option = click.option(
    "--since", type=_MomentType(), help="Only from this moment on: 2026-01-31T12:00 (UTC)."
)


@journal.command("list")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Most rows shown."
)
@click.option("--before", type=click.IntRange(1), metavar="SEQ", help="Only older ones: the next page.")
@click.option("--device", help="Only actions on this device.")
@click.option("--type", metavar="TYPE", help="Only this type, for example tap.")
@since_option
@click.option("--failed/--succeeded", default=None, help="Only these.")
@as_json
def list_actions(limit: int, as_json: bool, **wanted: Any) -> None:
    """List actions, newest first."""
    with open_journal() as opened:
        rows = opened.actions(limit, **wanted)
    if as_json:
        print_json([row.to_dict() for row in rows])
        return
    if not rows:
        click.echo("Nothing was done that fits.", err=True)
    elif sys.stdout.isatty():
        print_actions(rows)
    else:
        for row in rows:
            who = " ".join(str(row.actor[key]) for key in ("kind", "id") if row.actor and row.actor.get(key))
            state = f"{row.state} {row.failure_code}" if row.failure_code else row.state
            cells = [str(row.seq), iso_time(row.at_ms), row.action_id, state, row.device or "", who]
            click.echo("\t".join([*cells, row.reason or "", row.about]))
    if len(rows) == limit:
        click.echo(f"more: handrail journal list --before {rows[-1].seq}", err=True)


@journal.command()
@click.argument("action")
@as_json
def show(action: str, as_json: bool) -> None:
    """Show everything about ACTION: an action's id, or the number of one of its entries."""
    with open_journal() as opened:
        shown = opened.show(action)
    if as_json:
        print_json(asdict(shown))
        return
    for line in action_report(shown):
        click.echo(line)


@journal.command()
@click.option("--format", "form", type=click.Choice(["jsonl"]), default="jsonl", show_default=True)
@click.option("--output", "-o", type=click.Path(allow_dash=True, dir_okay=False), default="-", help="A file.")
@click.option("--device", help="Only events on this device.")
@since_option
@click.option("--action", metavar="ID", help="Only the events of this action.")
@click.option("--flow", "as_flow", is_flag=True, help="A flow that repeats the actions, instead of events.")
@click.option("--video", is_flag=True, help="A film of it as MP4, instead of events; needs --output.")
@click.option("--session", metavar="ID", help="With --flow or --video: only what was done in this session.")
@click.option("--name", default="recorded", show_default=True, help="With --flow: the flow's name.")
def export(*, output: str, action: str | None, as_flow: bool, video: bool, name: str, **others: Any) -> None:
    """Write events as lines of JSON, oldest first, with --flow as YAML, with --video as a film."""
    wanted = {key: others[key] for key in ("device", "since", "session")}
    if video:
        if output == "-" or as_flow or action is not None:
            raise InvalidAction(
                "--video writes a file of its own: give --output FILE.mp4, without --flow and --action",
                path="video",
                hint="For example: handrail journal export --video -o monday.mp4 --since 2026-01-31",
            )
        need_encoder()
        with open_journal() as opened:
            try:
                write_film(journal_scenes(opened, **wanted), Path(output), "Handrail")
            except OSError as error:
                why = f"{output} can't be written: {error.strerror or error}"
                raise InvalidAction(why, path="output") from None
        click.echo(f"video: {output}", err=True)
        return
    with open_journal() as opened, click.open_file(output, "w", encoding="utf-8", atomic=True) as file:
        if as_flow:
            file.write(flow_text(opened, name=name, **wanted))
            return
        for line in opened.export(device=others["device"], since=others["since"], action_id=action):
            file.write(line + "\n")


_OUTCOMES = {"verified": "green", "pending_verification": "green", "failed": "red"}
_DONE = frozenset({"verified", "pending_verification"})
_WIDEST = {"outcome": 26, "who": 16, "device": 21}  # cells; `what` and `reason` share the rest of the line
_ROOM = {"seq": 72, "who": 72, "device": 120, "reason": 100}
"""The terminal's width from which on a column is shown; other columns always are."""
_LABEL = 60
_WORDS = 200


def print_actions(rows: Sequence[ActionRow], width: int | None = None) -> None:
    console = Console(width=width)
    called = DeviceNames(Config.from_env(os.environ).home).all()
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for row in rows:
        all_texts = _row_texts(row, called)
        texts = {name: text for name, text in all_texts.items() if console.width >= _ROOM.get(name, 0)}
        for name in () if table.columns else texts:
            is_narrowed = name in ("what", "reason")  # rich takes what is missing from these alone
            right: Any = "right" if name == "seq" else "left"
            table.add_column(name, no_wrap=not is_narrowed, justify=right, max_width=_WIDEST.get(name))
        styles = {"outcome": _OUTCOMES.get(row.state, "yellow"), "reason": "dim"}
        more: Any = {"no_wrap": True, "overflow": "ellipsis"}
        table.add_row(*(Text(text, style=styles.get(name, ""), **more) for name, text in texts.items()))
    console.print(table)


def _row_texts(row: ActionRow, called: Mapping[str, str]) -> dict[str, str]:
    actor, device = row.actor or {}, row.device or ""
    done = row.state in _DONE and done_sentence(row.action, row.about)
    return {
        "seq": str(row.seq),
        "time": moment_text(row.at_ms),
        "what": done or _failed_action_text(row.type, row.about),
        "outcome": _outcome_text(row.state, row.failure_code),
        "who": clean(str(actor.get("id") or actor.get("kind") or "")),
        "device": called.get(canonical(device), clean(device)),
        "reason": clean(row.reason or ""),
    }


def _outcome_text(state: str, code: str | None) -> str:
    return code or {"pending_verification": "done"}.get(state, state)


def _failed_action_text(kind: str | None, words: str) -> str:
    """The type and the target of an action that did not succeed."""
    return clean(f"{kind or ''} {quoted(cut(clean(words), _LABEL)) if words else ''}")


def moment_text(at_ms: int) -> str:
    """Local time: the hour for today, the day too for this year, else the date."""
    at, now = datetime.fromtimestamp(at_ms / 1000), datetime.now()
    if at.date() == now.date():
        return f"{at:%H:%M:%S}"
    return f"{at:%b %d %H:%M}" if at.year == now.year else f"{at:%Y-%m-%d %H:%M}"


def action_report(shown: ShownAction) -> Iterator[str]:
    envelope, first = shown.envelope or {}, shown.events[0]
    action = first.get("action") or {}
    kind = action.get("type") or envelope.get("action_type")
    ended = _last_state(shown)
    words = action_words(action, envelope)
    yield (ended in _DONE and done_sentence(action, words)) or _failed_action_text(kind, words)
    for name, fact in _action_facts(shown, first, envelope).items():
        if fact:
            yield f"  {name:<9} {cut(clean(fact), _WORDS)}"
    yield ""
    yield f"  {'seq':>8}  {'time':<23}  event"
    for event in shown.events:
        at = datetime.fromtimestamp(event["at_ms"] / 1000).isoformat(" ", "milliseconds")
        yield f"  {event['seq']:>8}  {at:<23}  {event.get('kind', 'note')}"
    yield ""
    yield f"handrail journal show {shown.action_id or first['seq']} --json has everything."


def _last_state(shown: ShownAction) -> str:
    last = shown.events[-1]
    return str(last.get("kind")) if last.get("terminal") else UNFINISHED


def _action_facts(
    shown: ShownAction, first: Mapping[str, Any], envelope: Mapping[str, Any]
) -> dict[str, str]:
    actor, code = first.get("actor") or {}, envelope.get("failure_code")
    door = f"by {first['door']}" if first.get("door") else ""
    took = (envelope.get("timings_ms") or {}).get("total")
    proof = envelope.get("verification") or {}
    outcome = _outcome_text(_last_state(shown), code)
    return {
        "action": str(shown.action_id or ""),
        "outcome": f"{outcome}: {envelope.get('message')}" if code else outcome,
        "hint": str(envelope.get("hint") or ""),
        "proof": str(proof.get("outcome") or "") if not code else "",
        "delivery": str(envelope.get("delivery") or "").replace("_", " "),
        "who": " ".join(str(word) for word in (actor.get("kind"), actor.get("id"), door) if word),
        "why": str(first.get("reason") or ""),
        "device": str(first.get("device") or ""),
        "took": f"{took:.0f} ms" if isinstance(took, int | float) else "",
    }


def done_sentence(action: Mapping[str, Any], words: str) -> str:
    """What was done as one sentence; '' for an action that this version does not know."""
    try:
        done = action_from(dict(action))
    except InvalidAction:
        return ""
    return clean(sentence_of(done, cut(clean(words), _LABEL) or None)).removesuffix(".")


KEPT_ELSEWHERE = "A checkpoint kept elsewhere; may be repeated."
key_option = click.option(
    "--key", "keys", multiple=True, metavar="KEY|FILE", help="The journal's public key; may be repeated."
)
hand_over_option = click.option(
    "--hand-over", "hand_overs", multiple=True, metavar="FILE", help="A note that names the key after it."
)


@contextmanager
def _open_log() -> Iterator[JournalLog]:
    def tell(done: int, of: int) -> None:
        """Shows how many old entries were taken into the Merkle tree; only for large journals that had
        none."""
        if of - done > 20_000 and done % 10_240 < 512 and sys.stderr.isatty():
            click.echo(f"taking up old entries: {done:,} of {of:,}", err=True)

    with home_with_journal() as config, closing(JournalLog(config.home, tell)) as log:
        yield log


def _trusted_keys(
    keys: tuple[str, ...], hand_overs: tuple[str, ...], log: JournalLog | None = None
) -> Trusted:
    """The given keys and those that they were handed over to; this home's own where none is given."""
    try:
        notes = [HandOver.parse(read_input(name)) for name in hand_overs]
        if log is not None:
            notes += log.keys.hand_overs()
        return keys_trusted_through(read_keys(keys), notes) if keys or log is None else log.keys.trusted()
    except BadNote as error:
        raise InvalidAction(str(error), hint="Give hand-overs as `rotate-key` wrote them.") from None


@journal.command()
@click.option("--head", "known_head", metavar="COUNT:HASH", help="A head printed earlier and kept elsewhere.")
@click.option("--checkpoint", "files", multiple=True, metavar="FILE", help=KEPT_ELSEWHERE)
@key_option
@click.option("--no-blobs", is_flag=True, help="Do not read the stored trees and pictures.")
@as_json
def verify(
    known_head: str | None, files: tuple[str, ...], keys: tuple[str, ...], no_blobs: bool, as_json: bool
) -> None:
    """Prove that no entry was changed, removed or added; exits with 1 and names the first bad one.

    The witness of HANDRAIL_WITNESS is asked, too. Without a witness or a checkpoint that was kept elsewhere,
    anyone with the home and its key can rewrite the past consistently.
    """
    head = Head.parse(known_head) if known_head else None
    if known_head and head is None:
        hint = "Give COUNT:HASH as `verify` printed it."
        raise InvalidAction(f"{known_head} is not a head", hint=hint, path="head")
    elsewhere = [RememberedCheckpoint.read(Path(name)) for name in files]
    if keys:
        trusted = _trusted_keys(keys, ())
        for remembered in elsewhere:
            _check_proof(remembered.signed.check, keys_for(trusted, remembered.size), remembered.where)
    with open_journal() as opened:
        verdict = opened.verify(head, blobs=not no_blobs, elsewhere=elsewhere)
    if as_json:
        print_json({**asdict(verdict), "head": verdict.head})
    else:
        for warning in verdict.warnings:
            click.echo(f"warning: {warning}", err=True)
        good = f"ok: {verdict.count} entries, head {verdict.head}"
        click.echo(good if verdict.ok else f"BROKEN at entry {verdict.first_bad}: {verdict.why}")
        for agree in verdict.agrees if verdict.ok else ():
            click.echo(f"agrees with {agree}", err=True)
    sys.exit(0 if verdict.ok else 1)


def _check_proof(check: Any, keys: list[VerifierKey], what: str) -> None:
    """Raises `VerificationFailed` for a bad signature or proof."""
    try:
        check(keys)
    except (BadNote, BadProof) as error:
        raise VerificationFailed(f"{what} proves nothing: {error}", hint="Do not rely on it.") from None


@journal.command()
@click.option("--out", type=FILE, help="Write it here, with its leaves.")
@click.option("--leaves/--no-leaves", default=True, help="With --out: also FILE.leaves, which names entries.")
@as_json
def checkpoint(out: Path | None, leaves: bool, as_json: bool) -> None:
    """Print the journal's signed head; keep it elsewhere.

    With HANDRAIL_WITNESS it is countersigned first. FILE.leaves holds a hash of 32 bytes for every entry, by
    which `verify --checkpoint FILE` names the very entry that was changed first.
    """
    config = Config.from_env(os.environ)
    with _open_log() as log:
        signed = None
        if (place := witness_of(config)) is not None:
            try:
                signed = cosign(config.home, log, open_witness(*place), place[0], SystemClock())
            except WitnessAway as error:
                click.echo(f"warning: not countersigned: {error.message}", err=True)
        signed = signed or log.checkpoint()
        if out is not None:
            if leaves:
                data = log.leaf_hashes(0, signed.checkpoint.size)
                _write_file(out.with_name(out.name + LEAVES), data, out)
            _write_file(out, str(signed).encode())
    current = signed.checkpoint
    if as_json:
        about = {"origin": current.origin, "size": current.size, "root": current.root.hex()}
        print_json({**about, "note": str(signed)})
    elif out is None:
        click.echo(str(signed), nl=False)
    else:
        click.echo(f"{out}: {current.size} entries", err=True)


def _write_file(path: Path, data: bytes, named: Path | None = None) -> None:
    try:
        replace_durably(path, data)
    except OSError as error:
        why = f"{named or path} can't be written: {error.strerror or error}"
        raise InvalidAction(why, hint="Give another --out.", path="out") from None


@journal.command()
@click.argument("action", metavar="ID")
@click.option("--out", type=FILE, help="A file.  [default: printed]")
def prove(action: str, out: Path | None) -> None:
    """Prove one action to a stranger: ID is an action's id, or the number of one of its entries.

    The proof holds the entries of this action and nothing of others, and it needs no journal to be checked.
    """
    with _open_log() as log:
        proof = str(log.prove(action))
    if out is None:
        click.echo(proof, nl=False)
    else:
        _write_file(out, proof.encode())


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
    if not keys:
        hint = "--key KEY: the line that `handrail journal key` prints there."
        raise InvalidAction("whose journal?", path="key", hint=hint)
    trusted = _trusted_keys(keys, hand_overs)
    try:
        proof = ActionProof.parse(read_input(file))
    except BadNote as error:
        hint = "Give a file of `handrail journal prove`."
        raise InvalidAction(f"{file} is not a proof: {error}", path="file", hint=hint) from None
    proven = proof.place.signed.checkpoint
    _check_proof(proof.check, keys_for(trusted, proven.size), file)
    for key in read_keys(witnesses, "witness"):
        _check_proof(proof.place.signed.note.check, [key], f"{file}, without the witness {key.name},")
    entries = [{"seq": sealed.seq, "at_ms": sealed.at_ms, **sealed.event} for sealed in proof.entries]
    if as_json:
        report = {"ok": True, "action_id": proof.action_id, "origin": proven.origin, "size": proven.size}
        print_json({**report, "events": entries})
        return
    name, numbers = proof.action_id or "an entry", ", ".join(str(entry.seq) for entry in proof.entries)
    click.echo(f"proved: {name}: entries {numbers} of {proven.size} in {proven.origin}")


@journal.command()
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
@key_option
def consistency(old: Path, new: Path, keys: tuple[str, ...]) -> None:
    """Prove from the journal that checkpoint NEW only added to checkpoint OLD; exits with 1 if it did not."""
    older, newer = RememberedCheckpoint.read(old), RememberedCheckpoint.read(new)
    if older.size > newer.size:
        raise InvalidAction(f"{old} is newer than {new}", hint="Give the older one first.", path="old")
    with _open_log() as log:
        trusted = _trusted_keys(keys, (), log)
        for side in (older, newer):
            _check_proof(side.signed.check, keys_for(trusted, side.size), side.where)
        path = log.consistency(older.size, newer.size)

    def compare(_: list[VerifierKey]) -> None:
        merkle.check_consistency(older.size, newer.size, path, older.root, newer.root)

    _check_proof(compare, [], f"{new} does not continue {old}: the journal")
    click.echo(f"ok: {newer.size} entries begin with the {older.size} of {old}; {len(path)} hashes prove it")


@journal.command()
@click.option("--hand-overs", is_flag=True, help="Also the notes by which earlier keys named later ones.")
def key(hand_overs: bool) -> None:
    """Print the journal's public key: what others need to check its checkpoints and proofs."""
    with _open_log() as log:
        log.checkpoint()
        click.echo(str(log.signer().verifier))
        for hand_over in log.keys.hand_overs() if hand_overs else ():
            click.echo(f"\n{hand_over.note}", nl=False)


@journal.command("rotate-key")
def rotate_key() -> None:
    """Replace the journal's key: the old one signs the new one, and the journal says so."""
    with _open_log() as log:
        hand_over = log.rotate_key()
    event = {"kind": "key_handed_over", "note": str(hand_over.note)}
    with open_journal() as opened:
        asyncio.run(opened.seal(event))
    with _open_log() as log:
        log.checkpoint()
    click.echo(str(hand_over.new))
    until = f"The old key counts up to entry {hand_over.size}."
    click.echo(f"{until} Give the new one to your witness.", err=True)
