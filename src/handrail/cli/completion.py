"""`handrail completion`: the lines that teach a shell to complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_ACTIVATE = {
    "bash": 'eval "$(handrail completion bash)"       in ~/.bashrc',
    "zsh": 'eval "$(handrail completion zsh)"        in ~/.zshrc',
    "fish": "handrail completion fish | source        in ~/.config/fish/config.fish",
}


@click.command(epilog="\b\n" + "\n".join(_ACTIVATE.values()))
@click.argument("shell", type=click.Choice(list(_ACTIVATE)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what SHELL needs to complete Handrail's commands; put the line below into its start file."""
    found = get_completion_class(shell)
    assert found is not None, shell  # noqa: S101  (the three that click brings)
    click.echo(found(ctx.find_root().command, {}, "handrail", "_HANDRAIL_COMPLETE").source())
