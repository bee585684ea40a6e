"""`handrail --version`: the version, and the commit that it was built from. It never fails."""

from __future__ import annotations

import subprocess
from pathlib import Path

import click

from handrail import __version__

PACKAGE = Path(__file__).resolve().parent.parent
AT_MOST_S = 5


def show_version(ctx: click.Context) -> None:
    """Print it and leave."""
    commit = built_from(PACKAGE) or checked_out(PACKAGE)
    click.echo(f"handrail {__version__}" + (f" ({commit})" if commit else ""))
    ctx.exit()


def built_from(package: Path) -> str:
    """What the build wrote beside the code; empty in a clone."""
    try:
        return (package / "commit.txt").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def checked_out(package: Path) -> str:
    """What git says of the clone that the code lies in; empty where it lies elsewhere."""
    root = package.parent.parent
    if not (root / ".git").exists():
        return ""
    git = ["git", "-C", str(root), "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=, changed"]
    try:
        done = subprocess.run(git, capture_output=True, text=True, check=True, timeout=AT_MOST_S)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
