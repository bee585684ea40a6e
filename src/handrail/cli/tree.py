"""`handrail tree` and `handrail diff`: dump files as an agent would see them, without a device."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import click

from handrail.cli.options import json_option
from handrail.cli.output import print_json, read_input
from handrail.errors import ElementNotInteractable, TreeParseError
from handrail.protocol.device import Tap
from handrail.protocol.read import read_as
from handrail.screen.compact import CompactOptions, CompactResult, flags_of
from handrail.screen.diff import LIMIT, diff_text
from handrail.screen.diff import diff as compare
from handrail.screen.exports import full_text, outline
from handrail.screen.fingerprint import idle_fingerprint
from handrail.screen.node import Node, Screen
from handrail.screen.parse import parse
from handrail.screen.reach import tap_point
from handrail.screen.refs import Registry
from handrail.screen.select import find as find_element

DEPTH = "Deepest level shown; 0 shows all."


@click.command()
@click.argument("file")
@click.option(
    "--format",
    "form",
    type=click.Choice(["compact", "outline", "full", "json"]),
    default="compact",
    show_default=True,
    help="compact: a line per element; outline: JSON; full: every node; json: text, refs, warnings.",
)
@json_option("The same as --format json.")
@click.option("--depth", "max_depth", type=click.IntRange(0), default=0, help=DEPTH)
@click.option(
    "--max-lines", type=click.IntRange(1), default=200, show_default=True, help="The most lines of text."
)
@click.option("--only-interactive", is_flag=True, help="Leave plain texts out.")
@click.option("--within", metavar="TARGET", help='Only this element\'s inside: "@s1", a text, or "540,750".')
@click.option("--find", metavar="TEXT", help="Only lines that contain this text.")
def tree(file: str, form: str, as_json: bool, within: str | None, find: str | None, **limits: Any) -> None:
    """Render the UI dump in FILE (- for standard input) as an agent reads it."""
    screen = _read_dump(file)
    registry = Registry()
    options = CompactOptions(flags=flags_of(screen), **limits)
    result = registry.rebuild(screen, options)
    if within is not None:
        element = find_element(screen, read_as(Tap, {"target": within}).target, registry).receiver
        result = registry.rebuild(screen, replace(options, within=element))
    match "json" if as_json else form:
        case "json":
            print_json(_json_document(screen, registry, result))
        case "outline":
            print_json(outline(screen, max_depth=options.max_depth))
        case "full":
            _print_lines(full_text(screen), find)
        case _:
            _print_lines(result.text, find)
    for warning in screen.warnings:
        click.echo(f"warning: {warning}", err=True)


@click.command()
@click.argument("before")
@click.argument("after")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@json_option("The same as --format json.")
@click.option("--limit", type=click.IntRange(1), default=LIMIT, show_default=True, help="Most changes shown.")
def diff(before: str, after: str, form: str, as_json: bool, limit: int) -> None:
    """Show what changed between the UI dumps BEFORE and AFTER."""
    old, new = _read_dump(before), _read_dump(after)
    registry = Registry()
    registry.rebuild(old)
    shown = registry.rebuild(new, CompactOptions(flags=flags_of(new)))
    changes = compare(old, new, matching=registry.matching, ref_of=registry.ref_of)
    if as_json or form == "json":
        total = len(changes.changes)
        print_json({"navigated": changes.navigated, "changes": changes.capped(limit), "total": total})
    else:
        click.echo(diff_text(changes, limit=limit, screen_text=shown.text))


def _read_dump(file: str) -> Screen:
    try:
        return parse(read_input(file))
    except TreeParseError as error:
        name = "stdin" if file == "-" else file
        raise TreeParseError(f"{name}: {error.message}", hint="Is this a UI dump?", **error.details) from None


def _print_lines(text: str, wanted: str | None) -> None:
    """The text, or its header and the lines that contain `wanted`, ignoring case."""
    head, *lines = text.splitlines()
    if wanted is not None:
        lines = [line for line in lines if wanted.casefold() in line.casefold()]
    click.echo("\n".join([head, *lines]))


def _json_document(screen: Screen, registry: Registry, result: CompactResult) -> dict[str, Any]:
    return {
        "text": result.text,
        "fingerprint": result.fingerprint,
        "idle_fingerprint": idle_fingerprint(screen),
        "line_count": result.line_count,
        "ref_count": result.ref_count,
        "truncated": result.truncated,
        "warnings": screen.warnings,
        "refs": {ref: _describe_ref(screen, registry, node) for ref, node in result.ref_map.items()},
    }


def _describe_ref(screen: Screen, registry: Registry, node: Node) -> dict[str, Any]:
    element, point = registry.element_of(node), None
    with suppress(ElementNotInteractable):  # it can't be tapped now
        point = list(tap_point(screen, node))
    about = {"role": node.role, "label": registry.label_of(node), "bounds": list(node.bounds), "point": point}
    return {**about, "states": list(element.states) if element else [], "node_id": node.id}
