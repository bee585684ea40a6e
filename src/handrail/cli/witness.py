"""`handrail witness`: countersign journals of other machines: they can't rewrite their past unseen then."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from handrail.errors import DeviceBusy, InvalidAction

if TYPE_CHECKING:
    from socket import socket

    from handrail.http.witness import Witness
    from handrail.transparency.note import SignerKey, VerifierKey

PORT = 8430
NAME = "handrail/witness"
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@click.group()
def witness() -> None:
    """Countersign journals: this machine remembers what another one has signed."""


@witness.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Any other address needs TLS.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0: any free.")
@click.option(
    "--key",
    "keys",
    multiple=True,
    required=True,
    metavar="KEY|FILE",
    help="A journal's public key, or a file with one a line, read again for each request; may be repeated.",
)
@click.option("--tls-cert", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="PEM file.")
@click.option("--tls-key", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="PEM file.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="What was signed is kept here.  [default: witness in HANDRAIL_HOME]",
)
def serve(
    host: str,
    port: int,
    keys: tuple[str, ...],
    tls_cert: Path | None,
    tls_key: Path | None,
    folder: Path | None,
) -> None:
    """Countersign until Ctrl-C: what a journal only ever added to, and nothing else.

    For example: handrail witness serve --key journal.pub
    """
    from handrail.bind import is_loopback, listen  # noqa: PLC0415
    from handrail.config import Config  # noqa: PLC0415

    if (tls_cert is None) != (tls_key is None):
        raise InvalidAction("--tls-cert and --tls-key belong together", path="tls-key", hint="Give both.")
    if tls_cert is None and not is_loopback(host):
        raise InvalidAction(
            f"--host {host} can be reached by others, and there is no TLS",
            path="tls-cert",
            hint="Give --tls-cert and --tls-key, or leave --host out.",
        )
    _read(keys)
    home = Config.from_env(os.environ).make_home()
    folder = folder or home / "witness"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = _take(folder)
    try:
        bound = listen(host, port)
        certificate = (tls_cert, tls_key) if tls_cert and tls_key else None
        asyncio.run(_serve(host, bound, _witness(folder, _own_key(home), keys), certificate))
    finally:
        os.close(lock)


@witness.command()
def key() -> None:
    """Print this witness's public key: HANDRAIL_WITNESS_KEY of the machines that it signs for."""
    from handrail.config import Config  # noqa: PLC0415

    click.echo(str(_own_key(Config.from_env(os.environ).make_home()).verifier))


def _own_key(home: Path) -> SignerKey:
    from handrail.engine.journal.key import make_key, read_key  # noqa: PLC0415
    from handrail.transparency.note import WITNESS  # noqa: PLC0415

    path = home / "keys" / "witness.key"
    return read_key(path) if path.exists() else make_key(path, WITNESS, NAME)


def _read(keys: tuple[str, ...]) -> list[VerifierKey]:
    from handrail.cli.journal_proofs import read_keys  # noqa: PLC0415

    return read_keys(keys)


def _witness(folder: Path, signer: SignerKey, keys: tuple[str, ...]) -> Witness:
    from handrail.clock import SystemClock  # noqa: PLC0415
    from handrail.http.witness import Witness  # noqa: PLC0415

    return Witness(folder, signer, lambda: _read(keys), SystemClock())


def _take(folder: Path) -> int:
    """The folder for this process alone: two would each sign what the other has not seen."""
    file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise DeviceBusy(f"Another witness has {folder}", hint="Stop it, or give another --folder.") from None
    return file


async def _serve(host: str, bound: socket, witness: Witness, certificate: tuple[Path, Path] | None) -> None:
    from handrail.http.origin import Rules, hosts_of  # noqa: PLC0415
    from handrail.http.server import serving  # noqa: PLC0415
    from handrail.http.witness import build_witness  # noqa: PLC0415

    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in SIGNALS:
        loop.add_signal_handler(number, stop.set)
    port = bound.getsockname()[1]
    app = build_witness(witness, Rules(hosts_of(host, port)))
    async with serving(app, bound, certificate=certificate):
        scheme = "https" if certificate else "http"
        click.echo(f"HANDRAIL_WITNESS={scheme}://{host}:{port}")
        click.echo(f"HANDRAIL_WITNESS_KEY={witness.signer.verifier}")
        await stop.wait()
