"""What a fixture opens for one test, and gives back after it: a phone that is new, or a real one at home."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pytest

from handrail.clock import SystemClock
from handrail.config import Config
from handrail.engine.session import Session
from handrail.errors import HandrailError
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS, AnyAction
from handrail.protocol.device import PressKey
from handrail.protocol.read import action_from
from handrail.protocol.system import RestartApp, RunScript, StartApp
from handrail.pytest_plugin import BROWSER, OPENED, SIM
from handrail.pytest_plugin.evidence import DeviceEvidence, gather
from handrail.runtime import Runtime
from handrail.safety.approval_store import AskedApproval
from handrail.simulator import simulated_phones
from handrail.sync import BlockingPhone
from handrail.sync.openers import OpenedPhone, blocking_phone, open_new_browser, open_phone

LOOPBACK = ("127.0.0.1", "localhost")
REASON = "pytest: where the test begins"


class FixtureDevice:
    """One device of one test. It is on the test's stash from its opening to its end."""

    def __init__(self, item: pytest.Item, device: str, folders: pytest.TempPathFactory) -> None:
        self._item = item
        self._device = device
        self._folders = folders
        self.marked = marker_options(item)
        self.out = item.config.getoption("--handrail-out") or folders.getbasetemp() / "handrail"
        self.inside: OpenedPhone | None = None
        self.face: BlockingPhone | None = None
        self.evidence: DeviceEvidence | None = None
        self.since_ms = SystemClock().now_ms()

    @property
    def folder(self) -> Path:
        return Path(self.out) / re.sub(r"[^\w.-]+", "-", self._item.nodeid).strip("-")[-120:]

    @contextmanager
    def phone(self) -> Iterator[BlockingPhone]:
        __tracebackhide__ = True
        self._item.stash.setdefault(OPENED, []).append(self)
        with self._failures_without_traceback():
            face = blocking_phone(self._open_device())
        try:
            self.face, self.inside = face, OpenedPhone(face._runtime, face.session, face.simulated)
            with self._failures_without_traceback():
                for action in self._setup_actions():
                    face.run(action, reason=REASON)
            yield face
        finally:
            self.face = self.inside = None
            face.close()

    def gather_evidence(self) -> DeviceEvidence | None:
        """What a test that failed shows of its device, while that is open."""
        return self.face._block.loop.call(gather(self)) if self.face is not None else None

    @asynccontextmanager
    async def open_async(self) -> AsyncIterator[Session]:
        """The device's session, for tests that are awaited. Evidence of a failure is taken before it
        closes."""
        self._item.stash.setdefault(OPENED, []).append(self)
        async with self._open_device() as inside:
            self.inside = inside
            try:
                for action in self._setup_actions():
                    await inside.session.run(action, reason=REASON)
                yield inside.session
            except BaseException:
                self.evidence = await gather(self)
                raise
            finally:
                self.inside = None

    def _setup_actions(self) -> Iterator[AnyAction]:
        """What brings the device to where the test begins. A real phone is not new: it goes home first."""
        is_new = self._device in (SIM, BROWSER)
        if not is_new:
            yield PressKey(key="home")
        if (app := self.marked.app) is None:
            return
        if "." not in app:
            yield StartApp(name=app)
        else:
            yield StartApp(package=app) if is_new else RestartApp(package=app)

    @contextmanager
    def _failures_without_traceback(self) -> Iterator[None]:
        """Fails the test with the error's message and hint, without a traceback."""
        try:
            yield
        except HandrailError as error:
            self.evidence = self.gather_evidence()
            pytest.fail(f"{error.code}: {error.message}\n{error.hint}", pytrace=False)

    def _open_device(self) -> AbstractAsyncContextManager[OpenedPhone]:
        if self._device == BROWSER:
            profile = self._folders.mktemp("handrail-profile")
            return open_new_browser(self._new_home(), "browser:test", profile)
        if self._device == SIM:
            marked = self.marked
            phones = simulated_phones(clock=SystemClock(), seed=marked.seed, faults=marked.faults)
            return open_phone(self._new_home(), None, phones, marked.helper or "none")
        if self.marked.is_simulated_only:
            pytest.skip(f"{self._device} is a real phone: it has no seed and no faults")
        return open_phone(Runtime.open(raise_on_failure=True), self._device, None, self.marked.helper)

    def _new_home(self) -> AbstractAsyncContextManager[Runtime]:
        """A home for this test alone: nothing is remembered, and nobody else waits for the phone."""
        folder = self._folders.mktemp("handrail-home")
        config = Config.from_env({**os.environ, "HANDRAIL_HOME": str(folder)})
        config.make_home()
        config.policy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        hosts = ", ".join(f'"{host}"' for host in (*LOOPBACK, *self.marked.hosts))
        config.policy.write_text(f"known_hosts = [{hosts}]\n{_allow_rule()}")
        return Runtime.open(config, notify=self._answer_approval, raise_on_failure=True)

    async def _answer_approval(self, approval: AskedApproval, _: str | None) -> None:
        """Approves what the policy still asks about; scripts on this machine are refused."""
        inside = self.inside
        is_free = not isinstance(action_from(dict(approval.request.action)), RunScript)
        if inside is not None:
            await inside.runtime.approvals.answer(approval.id, is_free, "pytest, for a device of its own")


def _allow_rule() -> str:
    """The device is thrown away after the test, so a test may do anything to it; not to this machine.

    A rule, because a yes would be void where the screen moves on meanwhile.
    """
    allowed_kinds = [
        kind for kind, cls in ACTIONS.items() if cls is not RunScript and kind not in DESK_ACTIONS
    ]
    kinds = ", ".join(f'"{kind}"' for kind in allowed_kinds)
    return f'[[rule]]\nname = "a device of the test"\naction = [{kinds}]\nverdict = "allow"\n'


@dataclass(frozen=True, slots=True)
class MarkerOptions:
    """The phone that a test asks for."""

    app: str | None = None
    faults: tuple[str | Mapping[str, Any], ...] = ()
    seed: int = 1
    helper: Any = None
    hosts: tuple[str, ...] = ()

    @property
    def is_simulated_only(self) -> bool:
        """Whether it asks for what only a simulated phone has."""
        return bool(self.faults) or self.seed != 1


NAMES = tuple(field.name for field in fields(MarkerOptions))
_KINDS: dict[str, tuple[type, ...]] = {"app": (str,), "seed": (int,), "helper": (str,)}


def marker_options(item: pytest.Item) -> MarkerOptions:
    """The markers of a test, its class and its module; the nearest one wins, word by word."""
    options: dict[str, Any] = {}
    for marker in item.iter_markers("handrail"):
        if marker.args:
            _fail_marker(f"takes words, not {marker.args!r:.80}", f"Write app={marker.args[0]!r:.80}.")
        for name, value in marker.kwargs.items():
            if name not in NAMES:
                close = get_close_matches(name, NAMES, n=1)
                guess = f"Did you mean {close[0]}? " if close else ""
                _fail_marker(f"has no {name!r}", f"{guess}It takes {', '.join(NAMES)}.")
            kinds = _KINDS.get(name)
            if kinds and value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
                _fail_marker(f"{name}={value!r:.80}: should be {kinds[0].__name__}", "")
            options.setdefault(name, value)
    for name in ("faults", "hosts"):
        if name in options:
            options[name] = tuple(_as_list(name, options[name]))
    return MarkerOptions(**options)


def _as_list(name: str, value: Any) -> list[Any]:
    listed = [value] if isinstance(value, str | Mapping) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(entry, str | Mapping) for entry in listed):
        _fail_marker(f"{name}={value!r:.80}: should be a list of names", "")
    return list(listed)


def _fail_marker(why: str, hint: str) -> None:
    pytest.fail(f"@pytest.mark.handrail {why}. {hint}".rstrip(), pytrace=False)
