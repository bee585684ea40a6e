"""Where Handrail meets the simulated phone, which is a distribution of its own: `handrail-sim`.

Nothing else in `handrail` imports it when it runs; without it every door says what to install.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, cast

from handrail.errors import AppNotInstalled, InvalidAction, TreeParseError, Unsupported

if TYPE_CHECKING:
    from handrail_sim.adbd.daemon import Adbd
    from handrail_sim.adbd.server import Served
    from handrail_sim.clock import Clock as SimClock
    from handrail_sim.errors import SimulatorError
    from handrail_sim.phone import Phone

_KINDS = {"UnknownApp": AppNotInstalled, "UnreadableDump": TreeParseError}
HOW_TO_INSTALL = (
    "pip install 'handrail[sim]', or in a clone of the repository: pip install ./packages/sim. "
    "A real phone needs nothing of it: handrail devices."
)


@contextmanager
def simulator() -> Iterator[None]:
    """Turns a missing simulator and its refusals into errors with a code."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "handrail_sim":
            raise
        raise Unsupported("Simulated phones are not installed here", hint=HOW_TO_INSTALL) from None
    except Exception as refused:
        if type(refused).__module__ != "handrail_sim.errors":
            raise
        error = cast("SimulatorError", refused)
        kind = _KINDS.get(type(refused).__name__, InvalidAction)
        details: dict[str, Any] = {"path": error.path} if error.path else {}
        raise kind(error.message, hint=error.hint or None, **details) from None


def need_simulator() -> None:
    """Fails before anything else is begun, for a program that will need many phones."""
    with simulator():
        importlib.import_module("handrail_sim")


@asynccontextmanager
async def simulated_phones(
    count: int = 1,
    *,
    clock: SimClock,
    seed: int = 1,
    apps: Sequence[str] | None = None,
    serial: str = "handrail-sim",
    world: Mapping[str, Any] | None = None,
    faults: Iterable[str | Mapping[str, Any]] = (),
) -> AsyncIterator[list[Served]]:
    """Phones in this process, each on a free port; seeds in a row, one `world` of apps, the same `faults`."""
    with simulator():
        from handrail_sim.adbd.server import serve  # noqa: PLC0415
        from handrail_sim.phone import Phone  # noqa: PLC0415

        serials = [serial, *(f"{serial}-{number}" for number in range(2, count + 1))]
        phones = [
            Phone(clock=clock, seed=seed + number, serial=name, apps=apps, world=world)
            for number, name in enumerate(serials)
        ]
        for phone in phones:
            phone.faults.load(faults)
        async with serve(phones, port=0) as served:
            yield served


def simulated_daemon(
    *, clock: SimClock, seed: int = 1, serial: str = "handrail-sim", world: Mapping[str, Any] | None = None
) -> tuple[Phone, Adbd]:
    """A phone without a port: its daemon takes any connection."""
    with simulator():
        from handrail_sim.adbd.daemon import Adbd  # noqa: PLC0415
        from handrail_sim.phone import Phone  # noqa: PLC0415
        from handrail_sim.system.cell import Cell  # noqa: PLC0415

        phone = Phone(clock=clock, seed=seed, serial=serial, world=world)
        Cell([phone])
        return phone, Adbd(phone)


@asynccontextmanager
async def simulated_phone(*, seed: int = 1, apps: Sequence[str] | None = None) -> AsyncIterator[str]:
    """The address of a phone for the length of a block. The same seed gives the same phone."""
    with simulator():
        from handrail_sim import served  # noqa: PLC0415

        async with served.simulated_phone(seed=seed, apps=apps) as address:
            yield address
