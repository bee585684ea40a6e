"""Maestro's part of `handrail run`: its files and workspaces among the paths, and what they are given."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handrail.errors import InvalidAction

if TYPE_CHECKING:
    from handrail.cli.run import RunOptions
    from handrail.flow.foreign import RunningRuntime
    from handrail.flow.plan import AnyFlow
    from handrail.flow.run_record import FlowRecord
    from handrail_maestro.document import MaestroDocument

_SHELL = "MAESTRO_"
_SUFFIXES = (".yaml", ".yml")


class MaestroFlows:
    """Those that were found; all is imported where the first one is."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._listed: dict[Path, int] = {}
        """By file: the folder whose list it is in, where a failure ends that list."""
        self.documents: list[MaestroDocument] = []
        self.was_given = False
        self.runtime: RunningRuntime | None = None

    def takes(self, path: Path) -> bool:
        """Whether this path is Maestro's; its flows are kept."""
        if path.is_dir():
            from handrail_maestro.workspace import is_workspace  # noqa: PLC0415

            if not is_workspace(path):
                return False
            self._folder(path)
        elif not self._is_file(path):
            return False
        else:
            from handrail.flow.plan import has_wanted_tags  # noqa: PLC0415
            from handrail_maestro.files import read_text  # noqa: PLC0415
            from handrail_maestro.read import read  # noqa: PLC0415

            file = read(read_text(path), path)
            options = self._options  # tags are not for one file that somebody named
            if len(options.paths) == 1 or has_wanted_tags(file.tags, options.tags, options.without):
                self._add([path], path)
        self.was_given = True
        return True

    def _is_file(self, path: Path) -> bool:
        if path.suffix not in _SUFFIXES or not path.is_file():
            return False
        from handrail_maestro.workspace import is_flow  # noqa: PLC0415

        return is_flow(path)

    def _folder(self, folder: Path) -> None:
        from handrail_maestro.workspace import choose  # noqa: PLC0415

        options = self._options
        chosen = choose(folder, options.config, options.tags, options.without)
        output = folder / chosen.config.output if chosen.config.output else None
        self._add(chosen.files, folder, output)
        if not chosen.config.goes_on:
            self._listed |= {path.resolve(): len(self.documents) for path in chosen.listed}

    def _add(self, files: Sequence[Path], around: Path, output: Path | None = None) -> None:
        from handrail_maestro.document import MaestroSettings, open_maestro  # noqa: PLC0415
        from handrail_maestro.files import Workspace  # noqa: PLC0415
        from handrail_maestro.http_calls import HttpCalls  # noqa: PLC0415

        workspace = Workspace.of(around)
        calls = HttpCalls(workspace, self._options.allow_http, self._knows_host, self._note)
        settings = MaestroSettings(workspace, self._options.output or output or self._pictures(), calls)
        self.documents += [open_maestro(path, settings) for path in files]

    def _knows_host(self, host: str) -> bool:
        return self.runtime is not None and self.runtime.knows_host(host)

    def _note(self, event: dict[str, Any]) -> None:
        if self.runtime is not None:
            self.runtime.note(event)

    def _pictures(self) -> Path:
        """Beside the report, else among what runs leave in the home."""
        from handrail.config import Config  # noqa: PLC0415

        report = self._options.report
        return report / "screenshots" if report else Config.from_env(os.environ).runs / "maestro"

    async def check(self) -> None:
        """Scripts and the files that flows name, before a phone is opened. Raises `InvalidAction`."""
        if not self.documents:
            return
        from handrail.flow.parse import invalid_flow  # noqa: PLC0415
        from handrail_maestro.check import Checker  # noqa: PLC0415
        from handrail_maestro.scripts import Scripts  # noqa: PLC0415

        scripts = Scripts()
        wrong: list[InvalidAction] = []
        try:
            for document in self.documents:
                if document.path is None:
                    continue
                checker = Checker(scripts, document.settings.workspace)
                found = await checker.check(document.path, document.text)
                problems = [problem for problem in found.problems if problem.level == "error"]
                wrong += [invalid_flow(problems, document.path)] if problems else []
        finally:
            await scripts.close()
        if len(wrong) == 1:
            raise wrong[0]
        if wrong:
            told = "\n".join(error.message for error in wrong)
            raise InvalidAction(told, hint="`handrail flow check` says more.", path="")

    def env_for(self, document: AnyFlow) -> Mapping[str, str]:
        """Maestro's flows are told the shell's variables that begin with MAESTRO_, too."""
        if document not in self.documents:
            return self._options.env
        shell = {name: value for name, value in os.environ.items() if name.startswith(_SHELL)}
        return {**shell, **self._options.env}

    def why_left_out(self, document: AnyFlow, records: Sequence[FlowRecord]) -> str:
        """A list whose flow failed ends there, where config.yaml says so."""
        path = document.path.resolve() if document.path else None
        mine = self._listed.get(path) if path else None
        if mine is None:
            return ""
        failed = (record for record in records if record.outcome == "failed")
        before = next((one for one in failed if self._listed.get(Path(one.file).resolve()) == mine), None)
        return f"{before.name} failed before it" if before else ""
