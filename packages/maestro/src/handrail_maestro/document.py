"""A Maestro file as a flow that Handrail's own runner runs: places, steps, hooks, variables."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from handrail.errors import HandrailError, InvalidAction
from handrail.flow.document import STAND_IN, Place
from handrail.flow.evidence import DeviceWatch
from handrail.flow.parse import invalid_flow, plain_data, scalars_below
from handrail.flow.plan import At, Ended, FlowPlan, PlannedStep, Walk
from handrail.flow.run_record import StepRecord
from handrail.protocol.flow import Flow
from handrail.protocol.read import invalid_action
from handrail.protocol.target import Condition
from handrail_maestro import acting, control, looking, surroundings
from handrail_maestro.ahead import known_ahead, named_files
from handrail_maestro.files import Workspace, read_text
from handrail_maestro.play import CommandTurn, Play
from handrail_maestro.read import MaestroCommand, MaestroFile, read, texts_in, walk
from handrail_maestro.scripts import HttpDoor, Scripts, no_http
from handrail_maestro.words import WORDS

LABEL = 80
_HOLDERS = frozenset({"runFlow", "repeat", "retry"})
_DO: Mapping[str, Callable[[CommandTurn], Awaitable[None]]] = {
    "tapOn": acting.tap, "doubleTapOn": acting.tap, "longPressOn": acting.tap, "swipe": acting.swipe,
    "scroll": acting.scroll, "scrollUntilVisible": acting.scroll_until_visible,
    "inputText": acting.input_text, "inputRandomText": acting.input_random,
    "inputRandomNumber": acting.input_random, "inputRandomEmail": acting.input_random,
    "inputRandomPersonName": acting.input_random, "inputRandomCityName": acting.input_random,
    "inputRandomCountryName": acting.input_random, "inputRandomColorName": acting.input_random,
    "eraseText": acting.erase_text, "pressKey": acting.press_key, "back": acting.back,
    "hideKeyboard": acting.hide_keyboard, "copyTextFrom": acting.copy_text,
    "setClipboard": acting.set_clipboard, "pasteText": acting.paste_text,
    "launchApp": surroundings.launch_app, "stopApp": surroundings.stop_app, "killApp": surroundings.stop_app,
    "clearState": surroundings.clear_state, "setPermissions": surroundings.set_permissions,
    "openLink": surroundings.open_link, "setAirplaneMode": surroundings.set_airplane_mode,
    "toggleAirplaneMode": surroundings.toggle_airplane_mode, "setDarkMode": surroundings.set_dark_mode,
    "toggleDarkMode": surroundings.toggle_dark_mode, "setOrientation": surroundings.set_orientation,
    "setLocation": surroundings.set_location, "travel": surroundings.travel,
    "addMedia": surroundings.add_media, "assertVisible": looking.assert_visible,
    "assertNotVisible": looking.assert_not_visible, "extendedWaitUntil": looking.extended_wait,
    "waitForAnimationToEnd": looking.wait_for_animation, "assertTrue": looking.assert_true,
    "assertDarkMode": looking.assert_mode, "assertLightMode": looking.assert_mode,
    "takeScreenshot": looking.take_screenshot, "assertScreenshot": looking.assert_screenshot,
    "startRecording": looking.start_recording, "stopRecording": looking.stop_recording,
    "clearKeychain": looking.nothing, "runFlow": control.run_flow, "repeat": control.repeat,
    "retry": control.retry, "evalScript": control.eval_script, "runScript": control.run_script,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MaestroSettings:
    """What a run gives to all of its Maestro flows."""

    workspace: Workspace
    output: Path
    http: HttpDoor = no_http
    seed: int = 0


@dataclass(frozen=True, slots=True)
class MaestroStep:
    """One command, decided when it is reached."""

    play: Play
    document: MaestroDocument
    command: MaestroCommand
    optional: bool = False
    """Maestro's own `optional` does not cover everything, so it is minded here."""
    timeout_ms: int | None = None
    when: Condition | None = None

    @property
    def label(self) -> str | None:
        return self.command.text("label")

    @property
    def acts(self) -> bool:
        return WORDS[self.command.name].acts and self.command.name not in _HOLDERS

    async def _do(self, turn: CommandTurn) -> None:
        """What a script made of an option may be no value that an action takes."""
        try:
            await _DO.get(self.command.name, looking.not_done)(turn)
        except ValidationError as error:
            raise invalid_action(error, {}) from None

    async def run(self, walk: Walk, on: DeviceWatch, record: StepRecord) -> Ended:
        if self.play.acted_ms is None:
            self.play.acted_ms = walk.clock.monotonic_ms()
        turn = CommandTurn(self.play, self.document, self.command, walk, on, record)
        try:
            label = await turn.text("label")
            record.label = (label or record.label)[:LABEL]
            await self._do(turn)
        except HandrailError as error:
            if not self.command.is_optional or not control.is_covered(error):
                raise
            record.outcome = "warned"
            record.error, record.code, record.hint = error.message, error.code, error.hint
        finally:
            told = [*turn.notes, *self.play.scripts.log]
            self.play.scripts.log.clear()
            record.hint = "\n".join([*([record.hint] if record.hint else []), *told]) or None
            if self.acts:
                self.play.acted_ms = walk.clock.monotonic_ms()
        return "on"


@dataclass(frozen=True, slots=True)
class MaestroPlaces:
    """Where commands stand: (section, index, index inside, …)."""

    document: MaestroDocument

    def of(self, path: At) -> Place:
        found = self.document.command_at(path)
        mark = found.mark if found else self.document.file.header.start
        return Place(self.document.path, mark.line, mark.column)


@dataclass(slots=True)
class MaestroDocument:
    """One file of a run."""

    file: MaestroFile
    settings: MaestroSettings
    _play: Play | None = None
    _others: dict[Path, MaestroDocument] = field(default_factory=dict)

    is_agentest = False
    late_variables: frozenset[str] = frozenset()
    """Its variables are its own business."""

    @property
    def path(self) -> Path | None:
        return self.file.path

    @property
    def text(self) -> str:
        return self.file.text

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def tags(self) -> tuple[str, ...]:
        return self.file.tags

    @property
    def places(self) -> MaestroPlaces:
        return MaestroPlaces(self)

    @property
    def flow(self) -> Flow:
        tags = tuple(tag[:1_000] for tag in self.tags if tag)
        return Flow(name=self.name, tags=tags, steps=STAND_IN)

    def step_source(self, path: At) -> dict[str, Any]:
        found = self.command_at(path)
        step = plain_data(found.source) if found else {}
        return step if isinstance(step, dict) else {str(step): None}

    def element(self, _: At) -> None:
        """Nothing is recorded beside Maestro's commands, so nothing can be healed."""

    def command_at(self, path: At) -> MaestroCommand | None:
        section, *rest = path or ("",)
        commands: Sequence[MaestroCommand] = {
            "onFlowStart": self.file.on_start, "onFlowComplete": self.file.on_complete,
        }.get(str(section), self.file.commands)  # fmt: skip
        found: MaestroCommand | None = None
        for index in rest:
            if not isinstance(index, int) or index >= len(commands):
                return found
            found = commands[index]
            commands = found.inner
        return found

    # steps

    @property
    def play(self) -> Play:
        if self._play is None:
            raise AssertionError("steps belong to a run")
        return self._play

    @property
    def body(self) -> tuple[PlannedStep, ...]:
        return self._steps(self.file.commands, ("",))

    @property
    def on_start(self) -> tuple[PlannedStep, ...]:
        return self._steps(self.file.on_start, ("onFlowStart",))

    @property
    def on_complete(self) -> tuple[PlannedStep, ...]:
        return self._steps(self.file.on_complete, ("onFlowComplete",))

    def inner(self, command: MaestroCommand) -> tuple[PlannedStep, ...]:
        """The commands inside one."""
        return self._steps(command.inner, self._at(command))

    def _at(self, command: MaestroCommand) -> At:
        for section in ("", "onFlowStart", "onFlowComplete"):
            commands = {"": self.file.commands, "onFlowStart": self.file.on_start}.get(
                section, self.file.on_complete
            )
            found = _path_to(command, commands)
            if found is not None:
                return (section, *found)
        return ("",)

    def _steps(self, commands: Sequence[MaestroCommand], at: At) -> tuple[PlannedStep, ...]:
        return tuple(
            PlannedStep(MaestroStep(self.play, self, one), self, (*at, index), name_of_command(one))
            for index, one in enumerate(commands)
        )

    def other(self, path: Path) -> MaestroDocument:
        """A file that this one runs, in the same run."""
        key = path.resolve()
        if key not in self._others:
            made = MaestroDocument(
                _good(read(read_text(path), path)), self.settings, self._play, self._others
            )
            self._others[key] = made
        return self._others[key]

    async def header_env(self) -> dict[str, str]:
        """The file's own constants, evaluated before any of them counts."""
        written = self.file.header.get("env")
        return {name: await self.play.filled(text, secrets=True) for name, text in texts_in(written).items()}

    def ready(self, env: Mapping[str, str]) -> FlowPlan:
        """Raises `InvalidAction` for what is wrong with the file, and with those that it runs."""
        _good(self.file)
        settings = self.settings
        play = Play(settings.workspace, Scripts(settings.http), settings.output, settings.seed)
        play.scopes.append({**env, "MAESTRO_FILENAME": self.file.stem, "MAESTRO_SHARD_ID": "1",
                            "MAESTRO_SHARD_INDEX": "0"})  # fmt: skip
        run = MaestroDocument(self.file, settings, play)
        run.require_files()

        async def begin(main: DeviceWatch) -> None:
            """The header's constants win over what the command line gave."""
            play.scope["MAESTRO_DEVICE_UDID"] = main.session.serial
            play.scripts.platform = main.session.facts.platform
            play.scopes.append({**play.scope, **await run.header_env()})

        files = [run.file, *(other.file for other in run._others.values())]
        known = tuple(known_ahead(files, env, settings.workspace))
        return FlowPlan(run, (*run.on_start, *run.body), run.on_complete, known, begin, play.close)

    def require_files(self) -> None:
        """Files that are not there are told before a phone is touched."""
        seen: set[Path] = set()
        waiting = [self]
        while waiting:
            one = waiting.pop()
            for command in walk(one.file.every):
                for name in named_files(command):
                    try:
                        path = self.settings.workspace.resolve(one.path, name)
                    except InvalidAction as error:
                        mark = command.mark
                        where = f"{one.path}:{mark.line}:{mark.column}"
                        raise InvalidAction(
                            f"{where}: {error.message}",
                            hint=error.hint,
                            file=str(one.path),
                            line=mark.line,
                            path="",
                        ) from None
                    if command.name in ("runFlow", "retry") and path not in seen:
                        seen.add(path)
                        waiting.append(self.other(path))


def open_maestro(path: Path, settings: MaestroSettings) -> MaestroDocument:
    """A file as it is; what is wrong with it is told when it is made ready."""
    return MaestroDocument(read(read_text(path), path), settings)


def name_of_command(one: MaestroCommand) -> str:
    """What a report calls it: the command and what it is about. What is typed is not part of it."""
    word = WORDS[one.name]
    about = (
        "" if one.name == "inputText" else one.text(word.short if word.short != "selector" else "text") or ""
    )
    about = about or (one.text("id") or one.text("point") or one.text("direction") or "")
    element = one.option("element") or one.option("visible") or one.option("notVisible")
    if not about and element is not None:
        about = next((value.text for value in scalars_below(element)), "")
    return f"{one.name} {about}".strip()[:LABEL]


def _good(file: MaestroFile) -> MaestroFile:
    wrong = [problem for problem in file.problems if problem.level == "error"]
    if wrong:
        raise invalid_flow(wrong, file.path)
    return file


def _path_to(command: MaestroCommand, commands: Sequence[MaestroCommand]) -> tuple[int, ...] | None:
    for index, one in enumerate(commands):
        if one is command:
            return (index,)
        below = _path_to(command, one.inner)
        if below is not None:
            return (index, *below)
    return None
