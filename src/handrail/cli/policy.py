"""`handrail policy`: look at rules, ask which one would decide, and revoke remembered answers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, cast, get_args

import click

from handrail.cli.approvals import open_home_as_person, with_approvals
from handrail.cli.options import async_command, json_option
from handrail.cli.output import print_json, print_table
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.protocol.read import read_action
from handrail.safety.approvals import Approvals
from handrail.safety.caller import Door
from handrail.safety.permissions import Permissions, is_agent_dialog_key
from handrail.safety.policy import Policy, Rule, bypassing_actions, rulings, unreachable
from handrail.safety.policy_file import LivePolicy, read_policy
from handrail.safety.subject import CallerOrigin, Subject, TouchedElement
from handrail.screen.text import clean

_JSON = json_option()


@click.group()
def policy() -> None:
    """Show and check what is allowed: rules, defaults and remembered answers."""


@policy.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@_JSON
@click.option("--action", metavar="JSON", help="Show which rule would decide about this action.")
@click.option("--label", default="", help="Label of the target element.")
@click.option("--id", default="", help="Resource id of that element.")
@click.option("--role", default="", help="Role of that element, such as button.")
@click.option("--password", is_flag=True, help="That element is a password field.")
@click.option("--app", default="", help="Package of the app in front.")
@click.option("--device", default="", help="Serial of the device.")
@click.option("--door", type=click.Choice(get_args(Door)), default="cli", show_default=True)
@click.option("--caller", type=click.Choice(get_args(CallerOrigin)), default="local", show_default=True)
@click.option("--at", metavar="TIME", help="Local time such as 2026-04-23T22:30; now when left out.")
def check(file: Path | None, as_json: bool, action: str | None, at: str | None, **about: Any) -> None:
    """Check the policy in FILE (the one in use when left out), and try an action on it.

    Exit code 2 for a file with an error; rules that can never decide are listed, and programs in
    [script] allow that can start any other.
    """
    rules = Policy.of(read_policy(file)) if file else Policy()
    if file is None and (config := Config.from_env(os.environ)).home.exists():
        # As a session reads it: what would refuse an action there is an error here.
        rules = cast(Policy, LivePolicy(config.home, config.policy, SystemClock()).current())
    dead = unreachable(rules.rules)
    tried = None if action is None else _trial_subject(action, at, **about)
    if as_json:
        print_json(_policy_document(rules, dead, tried))
        return
    _print_rules(rules, dead, file)
    for warning in _warnings(rules):
        click.echo(f"Warning: {warning}", err=True)
    if tried is not None:
        _print_trial(rules, tried)


@policy.command()
@_JSON
@click.option("--markdown", is_flag=True, help="As docs/safety.md shows it.")
def defaults(as_json: bool, markdown: bool) -> None:
    """Show the built-in verdict of every action type."""
    rows = defaults_rows()
    if as_json:
        print_json([dict(zip(("action", "local", "remote", "why"), row, strict=True)) for row in rows])
    elif markdown:
        click.echo(markdown_table(rows))
    else:
        header = ("asked for", "local", "remote", "why")
        grouped = [(f"{_listed(kinds)} {what}".strip(), *rest) for (what, *rest), kinds in _grouped(rows)]
        print_table(f"{len(grouped)} groups of actions", header, grouped)


@policy.command()
@_JSON
def permissions(as_json: bool) -> None:
    """List remembered answers; those of agents' own dialogs are never read by policy."""
    remembered = Permissions(Config.from_env(os.environ).permissions).all()
    if as_json:
        print_json({key: "allow" if allow else "deny" for key, allow in remembered.items()})
    elif not remembered:
        click.echo("Nothing is remembered.")
    else:
        rows = []
        for key, allow in sorted(remembered.items()):
            reader = "agent" if is_agent_dialog_key(key) else "policy"
            rows.append(("allow" if allow else "deny", reader, clean(key)))
        print_table(f"{len(rows)} remembered answers", ("answer", "read by", "key"), rows)


@policy.command()
@click.argument("key")
def forget(key: str) -> None:
    """Revoke the remembered answer KEY."""
    Permissions(Config.from_env(os.environ).permissions).forget(key)
    click.echo(f"Forgotten: {clean(key)}")


@policy.command()
@_JSON
def grants(as_json: bool) -> None:
    """List what people allowed for a time, and what is left of it."""
    active = with_approvals(lambda desk: desk.grants.active())
    if as_json:
        print_json([grant.to_dict() for grant in active])
    elif not active:
        click.echo("Nothing is allowed for a time.")
    else:
        rows = [(grant.id, clean(str(grant))) for grant in active]
        print_table(f"{len(rows)} grants", ("id", "what"), rows)


@policy.command()
@click.argument("id_", metavar="ID")
@async_command
async def revoke(id_: str) -> None:
    """Revoke the grant ID; the beginning of an id is enough."""
    async with open_home_as_person() as home:
        ended = await Approvals(home.store, home.clock).grants.revoke(id_)
        await home.write_journal("grant_revoked", ended.device, grant=ended.id)
        click.echo(f"Revoked: {ended.id} {clean(ended.sentence)}")


def defaults_rows() -> list[tuple[str, str, str, str]]:
    """Action, local verdict, remote verdict, reason. Special cases stand above their action type."""
    every = rulings()
    return [(f"{kind} {case}".strip(), rule.local, rule.remote, rule.why) for kind, case, rule in every]


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| action | this machine | another machine | why |", "|---|---|---|---|"]
    for (what, local, remote, why), kinds in _grouped(rows):
        names = " ".join(f"`{kind}`" for kind in kinds)
        lines.append(f"| {names}{' ' if what else ''}{what} | {local} | {remote} | {why} |")
    return "\n".join(lines)


MOST_NAMES = 8


def _listed(kinds: Sequence[str]) -> str:
    """The first names; `--json` and the page on safety have all of them."""
    more = len(kinds) - MOST_NAMES
    return ", ".join(kinds[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _grouped(rows: Sequence[Sequence[str]]) -> Iterable[tuple[tuple[str, ...], list[str]]]:
    """Actions with the same case, verdicts and reason share a line."""
    grouped: dict[tuple[str, ...], list[str]] = {}
    for name, *rest in rows:
        kind, _, what = name.partition(" ")
        grouped.setdefault((what, *rest), []).append(kind)
    return grouped.items()


def _trial_subject(action: str, at: str | None, **about: Any) -> Subject:
    try:
        at_ms = int(datetime.fromisoformat(at).timestamp() * 1000) if at else SystemClock().now_ms()
    except ValueError:
        problem = f"{at!r} is not a time such as 2026-04-23T22:30"
        raise click.BadParameter(problem, param_hint="--at") from None
    element = TouchedElement(
        package=about.pop("app"), **{name: about.pop(name) for name in ("label", "id", "role", "password")}
    )
    return Subject.of(read_action(action), resolved=element, at_ms=at_ms, **about)


def _print_rules(rules: Policy, dead: dict[int, str], file: Path | None) -> None:
    if not rules.rules:
        click.echo("No rules: the built-in defaults decide everything (`handrail policy defaults`).")
        return
    rows = []
    for at, rule in enumerate(rules.rules):
        note = f"never decides: {dead[at]}" if at in dead else rule.why
        parts = " ".join(f"{part.name}={part.plain_values()}" for part in rule.parts) or "everything"
        rows.append((rule.name, rule.verdict, parts, rule.remember, note))
    print_table(str(file or "policy"), ("rule", "verdict", "matches", "remember", ""), rows)
    reachable = f"Rules: {len(rows)}, all of them reachable; then the built-in defaults."
    click.echo(f"{len(dead)} of {len(rows)} rules never decide." if dead else reachable, err=True)


def _warnings(rules: Policy) -> list[str]:
    """Warns of rules that name single actions: other actions press the same button, such as a key on the
    focused one."""
    lines = []
    for at, missed in bypassing_actions(rules.rules).items():
        some = ", ".join(missed[:4]) + (f" and {len(missed) - 4} more" if len(missed) > 4 else "")
        advice = f"The same element can be pressed by {some}: say `pressed = true` instead."
        lines.append(f"{_rule_title(rules.rules[at], at + 1)} names single actions. {advice}")
    return lines


def _print_trial(rules: Policy, tried: Subject) -> None:
    decided_at = 0
    for at, rule in enumerate(rules.rules, 1):
        if missed := rule.misses(tried):
            click.echo(f"{_rule_title(rule, at)}: {'; '.join(map(str, missed))}")
        elif decided_at:
            click.echo(f"{_rule_title(rule, at)}: matches too, but rule {decided_at} comes first")
        else:
            decided_at = at
            click.echo(f"{_rule_title(rule, at)}: matches")
    verdict = rules.decide(tried)
    why = f" ({verdict.why})" if verdict.why else ""
    click.echo(f"{verdict.kind}: {verdict.rule}{why}; remember: {verdict.remember}")


def _rule_title(rule: Rule, at: int) -> str:
    """`rule 2 "payments" (line 14)`."""
    number = f"rule {at}"
    name = "" if rule.name == number else f' "{rule.name}"'
    return f"{number}{name}{f' (line {rule.line})' if rule.line else ''}"


def _policy_document(rules: Policy, dead: dict[int, str], tried: Subject | None) -> dict[str, Any]:
    listed = []
    for at, rule in enumerate(rules.rules):
        entry: dict[str, Any] = {"name": rule.name, "verdict": rule.verdict, "remember": rule.remember}
        entry["match"] = {part.name: part.plain_values() for part in rule.parts}
        optional = {"why": rule.why, "line": rule.line, "unreachable": dead.get(at)}
        entry |= {name: fact for name, fact in optional.items() if fact}
        if tried is not None:
            entry["missed"] = [asdict(missed) for missed in rule.misses(tried)]
        listed.append(entry)
    document: dict[str, Any] = {"rules": listed}
    if warnings := _warnings(rules):
        document["warnings"] = warnings
    if tried is not None:
        verdict = rules.decide(tried)
        decision = {"verdict": verdict.kind, "rule": verdict.rule, "why": verdict.why}
        document["decides"] = decision | {"remember": verdict.remember}
    return document
