"""`handrail actions`: the vocabulary for people and for programs."""

from __future__ import annotations

import click

from handrail.cli.output import print_json, print_table
from handrail.dialects.rules import unknown_name
from handrail.protocol.act import Act
from handrail.protocol.actions import ACTIONS, json_schema
from handrail.protocol.describe import describe, summary


@click.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="The vocabulary as one JSON Schema document.")
def actions(names: tuple[str, ...], as_json: bool) -> None:
    """Show every action, or the fields of the actions named."""
    for name in names:
        if name not in ACTIONS:
            raise unknown_name(name, ACTIONS)
    if as_json:
        print_json(_schema(names))
    elif names:
        for name in names:
            _print_fields(ACTIONS[name])
    else:
        rows = [(name, cls.traits.effect, cls.traits.semantic, summary(cls)) for name, cls in ACTIONS.items()]
        print_table(f"{len(rows)} actions", ("type", "effect", "semantic", "what it does"), rows)


def _schema(names: tuple[str, ...]) -> dict[str, object]:
    """The whole document, or the same with only the named actions to choose from."""
    schema = json_schema()
    if names:
        wanted = {f"#/$defs/{ACTIONS[name].__name__}" for name in names}
        schema["oneOf"] = [one for one in schema["oneOf"] if one["$ref"] in wanted]
        mapping = schema["discriminator"]["mapping"]
        schema["discriminator"]["mapping"] = {kind: mapping[kind] for kind in mapping if kind in names}
    return schema


def _print_fields(cls: type[Act]) -> None:
    described = describe(cls)
    click.echo(f"{described.type}: {described.text}")
    rows = [(one.name, one.kind, one.presence, one.text) for one in described.fields]
    print_table(described.type, ("field", "type", "", "meaning"), rows)
    click.echo(f"example: {described.example}\n")
