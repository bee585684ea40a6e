"""Apps, the clipboard, shell commands and scripts. They are verified by a read, not by the screen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import get_close_matches

from handrail.engine.conditions import ConditionResult
from handrail.engine.run import Outcome, Stage
from handrail.engine.verify import verified_by_read_back
from handrail.errors import (
    ActionRejected,
    AdbCommandError,
    AmbiguousTarget,
    AppNotInstalled,
    HandrailError,
    Unsupported,
    VerificationFailed,
)
from handrail.protocol.actions import AnyAction
from handrail.protocol.system import ListApps, RunScript, SetClipboard, Shell, StopApp
from handrail.surface import capabilities as can
from handrail.surface.values import InstalledApp


async def stop_app(stage: Stage, action: StopApp) -> Outcome:
    async with stage.run.dispatching():
        observed = await stage.apps.stop(action.package)
    failure = VerificationFailed(
        f"{action.package} still runs as {observed}", expected="stopped", observed=observed
    )
    return _outcome_of_read_back("stopped", observed, failure)


async def list_apps(stage: Stage, action: ListApps) -> Outcome:
    """Apps that a person could start, sorted by name."""
    wanted = fold_name(action.find or "")
    apps = [
        app
        for app in await stage.apps.installed()
        if wanted in fold_name(app.package)
        or any(wanted in fold_name(name) for name in (app.label, *app.names))
    ]
    apps.sort(key=lambda app: (app.label.casefold(), app.package))
    rows = [{"name": app.label, "package": app.package} for app in apps]
    text = "\n".join(f"{app.label} ({app.package})" for app in apps) or "No app matches."
    return Outcome(details={"apps": rows, "text": text})


async def named_app(stage: Stage, name: str) -> AnyAction:
    """The action that starts an app by its name, with the package, which policy and proof need."""
    app = choose_app(name, await stage.apps.installed())
    stage.run.details |= {"name": app.label, "package": app.package}
    return stage.run.action.model_copy(update={"package": app.package, "name": None})


async def set_clipboard(stage: Stage, action: SetClipboard) -> Outcome:
    """Verified by reading it back. Text with a secret is reported with its placeholder."""
    text = (await stage.fill(action.text)).text
    async with stage.run.dispatching():
        await stage.surface.need(can.ClipboardAccess).set_clipboard(text)
    try:
        content = await stage.surface.need(can.ClipboardAccess).get_clipboard()
    except Unsupported:
        return Outcome()
    observed = action.text if content in (text, stage.secrets.redact(text)) else content
    failure = VerificationFailed("The clipboard has other content", expected=action.text, observed=observed)
    return _outcome_of_read_back(action.text, observed, failure)


def _outcome_of_read_back(expected: str, observed: str, failure: HandrailError) -> Outcome:
    met = expected == observed
    verification = ConditionResult(met, expected, observed).verification("built_in")
    return Outcome(verification=verification, failure=None if met else failure)


TEXT_LIMIT = 64 << 10
"""Characters of output in an envelope; head and tail are kept."""


async def run_shell(stage: Stage, action: Shell) -> Outcome:
    """Tokens are quoted one by one; `raw` passes the text to the device's shell."""
    tokens = [str(action.command)] if action.raw else action.tokens
    filled = [(await stage.fill(token)).text for token in tokens]
    async with stage.run.dispatching():
        shell = stage.surface.need(can.ShellCommands)
        output = await (shell.script(filled[0]) if action.raw else shell.command(filled))
    details = {
        "exit_code": output.exit_code,
        "stdout": head_and_tail(output.stdout),
        "stderr": head_and_tail(output.stderr),
    }
    if output.exit_code not in (0, None):
        stage.run.details |= details
        raise AdbCommandError(f"The command ended with exit code {output.exit_code}", command=action.tokens)
    return Outcome(details=details, verification=verified_by_read_back(output.exit_code, 0))


async def run_script(stage: Stage, action: RunScript) -> Outcome:
    """A refused run leaves its evidence folder too."""
    async with stage.run.dispatching("script"):
        result = await stage.run.session.run_script(action)
        stage.run.details |= result.to_dict()
        if result.refused is not None:
            has_begun = result.refused.startswith("ended")
            why = result.refused if has_begun else f"refused: {result.refused.removeprefix('refused: ')}"
            raise ActionRejected(
                f"The script was {why}",
                hint=result.hint,
                delivery="delivered" if has_begun else "not_delivered",
            )
    if not result.ok:
        why = "ran out of time" if result.timed_out else f"ended with exit code {result.exit_code}"
        raise AdbCommandError(f"The script {why}", command=[action.script])
    return Outcome(verification=verified_by_read_back(result.exit_code, 0), settle="none")


def head_and_tail(text: str, limit: int = TEXT_LIMIT) -> str:
    """Head and tail of a long text, with the number of characters left out."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


_FILLERS = re.compile(r"\b(?:the|app)\b")
_BETWEEN = re.compile(r"[\W_]+")
MOST = 5
"""Candidates in an error."""


def fold_name(name: str) -> str:
    """Equal for all spellings of a name: "Wi-Fi Anályzer", "wifi analyzer"."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    words = _FILLERS.sub(" ", letters)
    return _BETWEEN.sub("", words) or _BETWEEN.sub("", letters)


def choose_app(name: str, apps: Sequence[InstalledApp]) -> InstalledApp:
    """The app with this name in the device's language, else in any language, else with this package."""
    wanted = fold_name(name)
    for matches in (
        [app for app in apps if wanted and fold_name(app.label) == wanted],
        [app for app in apps if wanted and wanted in map(fold_name, app.names)],
        [app for app in apps if app.package.casefold() == name.strip().casefold()],
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            packages = " or ".join(app.package for app in matches[:MOST])
            raise AmbiguousTarget(
                f'{len(matches)} apps are called "{name}"',
                hint=f"Name the package: {packages}.",
                candidates=[{"name": app.label, "package": app.package} for app in matches[:MOST]],
            )
    raise _app_not_installed(name, apps)


LISTED_NAMES = 20
"""Names of apps in a hint."""


def _app_not_installed(name: str, apps: Sequence[InstalledApp]) -> AppNotInstalled:
    wanted = fold_name(name)
    by_name = {fold_name(label): app for app in apps for label in (app.label, *app.names)}
    inside = [label for label in by_name if wanted and (wanted in label or (label and label in wanted))]
    close = dict.fromkeys([*sorted(inside, key=len), *get_close_matches(wanted, by_name, n=3, cutoff=0.6)])
    similar = list(dict.fromkeys(by_name[label] for label in close))[:MOST]
    if similar:
        suggestions = " or ".join(f'"{app.label}" ({app.package})' for app in similar)
        hint = f"Did you mean {suggestions}?"
    else:
        names = sorted({app.label for app in apps}, key=str.casefold)
        more = f" and {len(names) - LISTED_NAMES} more" if len(names) > LISTED_NAMES else ""
        hint = f"There are: {', '.join(names[:LISTED_NAMES])}{more}."
    return AppNotInstalled(
        f'no app is called "{name}"',
        hint=hint,
        name=name,
        nearest=[{"name": app.label, "package": app.package} for app in similar],
    )
