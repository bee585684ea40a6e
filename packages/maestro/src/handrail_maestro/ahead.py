"""What a flow is known to do before it runs, so that a person is asked about all of it at once.

Only what needs no script to be known; the rest is asked about when it is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from handrail.errors import InvalidAction
from handrail.flow.parse import Items, Scalar
from handrail.protocol.actions import AnyAction
from handrail.protocol.system import AddMedia, OpenUrl, ResetApp
from handrail_maestro.expressions import pieces, without_engine
from handrail_maestro.files import Workspace
from handrail_maestro.read import MaestroCommand, MaestroFile, texts_in, walk
from handrail_maestro.surroundings import permission_actions


def known_ahead(
    files: Iterable[MaestroFile], env: Mapping[str, str], workspace: Workspace
) -> Iterator[AnyAction]:
    """Data that is deleted, permissions, files that are copied, links that are opened: each once."""
    seen: set[str] = set()
    for file in files:
        own = {name: known(text, env) for name, text in texts_in(file.header.get("env")).items()}
        scope = {**env, **{name: value for name, value in own.items() if value is not None}}
        for command in walk(file.every):
            for action in _of(command, file, scope, workspace):
                if repr(action) not in seen:
                    seen.add(repr(action))
                    yield action


def _of(
    command: MaestroCommand, file: MaestroFile, scope: Mapping[str, str], workspace: Workspace
) -> Iterator[AnyAction]:
    try:
        if command.name == "addMedia":
            yield from (AddMedia(path=str(workspace.resolve(file.path, one))) for one in named_files(command))
            return
        if command.name == "openLink":
            if link := known(command.text("link") or "", scope):
                yield OpenUrl(url=link)
            return
        app = known(command.text("appId") or command.text("url") or file.app or "", scope)
        if not app or command.name not in ("launchApp", "clearState", "setPermissions"):
            return
        if command.name == "clearState" or command.is_on("clearState"):
            yield ResetApp(package=app)
        if command.name != "clearState":
            wishes = texts_in(command.option("permissions")) or {"all": "allow"}
            yield from permission_actions(app, wishes.items())
    except (ValueError, InvalidAction):  # what can't be right fails when it is done
        return


def named_files(command: MaestroCommand) -> Iterator[str]:
    """The files that a command names."""
    node = command.option("files" if command.name == "addMedia" else "file")
    if command.name in ("runFlow", "retry", "runScript", "addMedia") and node is not None:
        values = node.items if isinstance(node, Items) else (node,)
        yield from (one.text for one in values if isinstance(one, Scalar) and "${" not in one.text)


def known(text: str, scope: Mapping[str, str]) -> str | None:
    """A text whose every part is known without a script; None for any other."""
    made: list[str] = []
    for piece in pieces(text):
        value = without_engine(piece.text, scope) if piece.is_code else piece.text
        if value is None or piece.is_secret:
            return None
        made.append(value)
    return "".join(made)
