"""`handrail actions`: the vocabulary for people and for programs."""

from __future__ import annotations

import click

from handrail.cli.output import print_json, print_table
from handrail.cli.vocabulary import VOCABULARY


@click.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="The vocabulary as one JSON Schema document.")
def actions(names: tuple[str, ...], as_json: bool) -> None:
    """Show every action, or the fields of the actions named."""
    for name in names:
        if name not in VOCABULARY:
            from handrail.dialects.rules import unknown_name  # noqa: PLC0415  (the models themselves)

            raise unknown_name(name, VOCABULARY)
    if as_json:
        print_json(_schema(names))
    elif names:
        for name in names:
            _print_fields(name)
    else:
        rows = [(name, one.effect, one.semantic, one.text) for name, one in VOCABULARY.items()]
        print_table(f"{len(rows)} actions", ("type", "effect", "semantic", "what it does"), rows)


def _schema(names: tuple[str, ...]) -> dict[str, object]:
    """The whole document, or the same with only the named actions to choose from."""
    from handrail.protocol.actions import ACTIONS, json_schema  # noqa: PLC0415

    schema = json_schema()
    if names:
        wanted = {f"#/$defs/{ACTIONS[name].__name__}" for name in names}
        schema["oneOf"] = [one for one in schema["oneOf"] if one["$ref"] in wanted]
        mapping = schema["discriminator"]["mapping"]
        schema["discriminator"]["mapping"] = {kind: mapping[kind] for kind in mapping if kind in names}
    return schema


def _print_fields(name: str) -> None:
    told = VOCABULARY[name]
    click.echo(f"{name}: {told.text}")
    print_table(name, ("field", "type", "", "meaning"), told.fields)
    click.echo(f"example: {told.example}\n")
