"""`handrail witness`: countersign journals of other machines: they can't rewrite their past unseen then."""

from __future__ import annotations

import asyncio
import fcntl
import os
from pathlib import Path
from socket import socket

import click

from handrail.bind import is_loopback, listen
from handrail.cli.options import EXISTING_FILE, FOLDER, PORT
from handrail.cli.output import read_keys
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.errors import DeviceBusy, InvalidAction
from handrail.invocation import current
from handrail.journal.signed_note import WITNESS, SigningKey
from handrail.journal.signing_key import make_key, read_key
from handrail.web_server.auth import HostRules, served_hosts
from handrail.web_server.server import serving
from handrail.web_server.witness_server import Witness, build_witness

WITNESS_PORT = 8430
NAME = "handrail/witness"
KEYS = "A journal's public key, or a file with one a line, read again for each request; may be repeated."


@click.group()
def witness() -> None:
    """Countersign journals: this machine remembers what another one has signed."""


@witness.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Any other address needs TLS.")
@click.option("--port", type=PORT, default=WITNESS_PORT, show_default=True, help="0: any free.")
@click.option("--key", "keys", multiple=True, required=True, metavar="KEY|FILE", help=KEYS)
@click.option("--tls-cert", type=EXISTING_FILE, help="PEM file.")
@click.option("--tls-key", type=EXISTING_FILE, help="PEM file.")
@click.option(
    "--folder", type=FOLDER, help="What was signed is kept here.  [default: witness in HANDRAIL_HOME]"
)
def serve(host: str, port: int, keys: tuple[str, ...], folder: Path | None, **tls: Path | None) -> None:
    """Countersign until Ctrl-C: what a journal only ever added to, and nothing else.

    For example: handrail witness serve --key journal.pub
    """
    tls_cert, tls_key = tls["tls_cert"], tls["tls_key"]
    if (tls_cert is None) != (tls_key is None):
        raise InvalidAction("--tls-cert and --tls-key belong together", path="tls-key", hint="Give both.")
    if tls_cert is None and not is_loopback(host):
        raise InvalidAction(
            f"--host {host} can be reached by others, and there is no TLS",
            path="tls-cert",
            hint="Give --tls-cert and --tls-key, or leave --host out.",
        )
    read_keys(keys)
    home = Config.from_env(os.environ).make_home()
    folder = folder or home / "witness"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Two witnesses of one folder would each sign what the other has not seen.
    lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise DeviceBusy(f"Another witness has {folder}", hint="Stop it, or give another --folder.") from None
    try:
        bound = listen(host, port)
        certificate = (tls_cert, tls_key) if tls_cert and tls_key else None
        witness = Witness(folder, _witness_key(home), lambda: read_keys(keys), SystemClock())
        asyncio.run(_serve_witness(host, bound, witness, certificate))
    finally:
        os.close(lock)


@witness.command()
def key() -> None:
    """Print this witness's public key: HANDRAIL_WITNESS_KEY of the machines that it signs for."""
    click.echo(str(_witness_key(Config.from_env(os.environ).make_home()).verifier))


def _witness_key(home: Path) -> SigningKey:
    path = home / "keys" / "witness.key"
    return read_key(path) if path.exists() else make_key(path, WITNESS, NAME)


async def _serve_witness(
    host: str, bound: socket, witness: Witness, certificate: tuple[Path, Path] | None
) -> None:
    stop = asyncio.Event()
    port = bound.getsockname()[1]
    app = build_witness(witness, HostRules(served_hosts(host, port)))
    with current.get().on_stop(stop.set, once=False):
        async with serving(app, bound, certificate=certificate):
            scheme = "https" if certificate else "http"
            click.echo(f"HANDRAIL_WITNESS={scheme}://{host}:{port}")
            click.echo(f"HANDRAIL_WITNESS_KEY={witness.signer.verifier}")
            await stop.wait()
