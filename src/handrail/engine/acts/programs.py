"""Programs and commands, on the device and on this machine: their proof is a read, not a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handrail.engine.run import Outcome, Stage
from handrail.errors import ActionRejected, AdbCommandError, HandrailError, Unsupported, VerificationFailed
from handrail.protocol.envelope import Verification
from handrail.protocol.system import ListApps, RunScript, SetClipboard, Shell, StartApp, StopApp
from handrail.surface.app_names import choose_app, folded

if TYPE_CHECKING:
    from handrail.engine.script.executor import ScriptResult


async def stop_app(stage: Stage, action: StopApp) -> Outcome:
    """Its process is gone."""
    async with stage.run.dispatching():
        observed = await stage.apps.stop(action.package)
    failure = VerificationFailed(
        f"{action.package} still runs as {observed}", expected="stopped", observed=observed
    )
    return _proved("stopped", observed, failure)


async def list_apps(stage: Stage, action: ListApps) -> Outcome:
    """What a person could start, by name."""
    wanted = folded(action.find or "")
    found = [
        one
        for one in await stage.apps.installed()
        if wanted in folded(one.package) or any(wanted in folded(name) for name in (one.label, *one.names))
    ]
    found.sort(key=lambda one: (one.label.casefold(), one.package))
    rows = [{"name": one.label, "package": one.package} for one in found]
    text = "\n".join(f"{one.label} ({one.package})" for one in found) or "No app is called so."
    return Outcome(details={"apps": rows, "text": text})


async def named_app(stage: Stage) -> StartApp | None:
    """An app that is started by name, by its package: policy and proof go by that. None for all others."""
    action = stage.run.action
    if not isinstance(action, StartApp) or action.name is None:
        return None
    app = choose_app(action.name, await stage.apps.installed())
    stage.run.details |= {"name": app.label, "package": app.package}
    return action.model_copy(update={"package": app.package, "name": None})


async def set_clipboard(stage: Stage, action: SetClipboard) -> Outcome:
    """It reads back. Text that holds a secret is told as it was given."""
    text = (await stage.fill(action.text)).text
    async with stage.run.dispatching():
        await stage.clipboard.set_clipboard(text)
    try:
        found = await stage.clipboard.get_clipboard()
    except Unsupported:
        return Outcome()
    observed = action.text if found in (text, stage.secrets.redact(text)) else found
    failure = VerificationFailed(
        "The clipboard holds something else", expected=action.text, observed=observed
    )
    return _proved(action.text, observed, failure)


def _proved(expected: str, observed: str, failure: HandrailError) -> Outcome:
    met = expected == observed
    verdict = Verification(
        mode="built_in", expected=expected, observed=observed, outcome="verified" if met else "failed"
    )
    return Outcome(verification=verdict, failure=None if met else failure)


TEXT_LIMIT = 64 << 10
"""Characters of output that an envelope holds; head and tail."""


async def on_device(stage: Stage, action: Shell) -> Outcome:
    """Tokens are quoted one by one; `raw` hands the text to the device's shell."""
    tokens = [str(action.command)] if action.raw else action.tokens
    filled = [(await stage.fill(token)).text for token in tokens]
    async with stage.run.dispatching():
        output = await (stage.shell.script(filled[0]) if action.raw else stage.shell.command(filled))
    details = {
        "exit_code": output.exit_code,
        "stdout": shortened(output.stdout),
        "stderr": shortened(output.stderr),
    }
    if output.exit_code not in (0, None):
        stage.run.details |= details
        raise AdbCommandError(f"The command ended with exit code {output.exit_code}", command=action.tokens)
    verification = Verification(mode="built_in", expected=0, observed=output.exit_code, outcome="verified")
    return Outcome(details=details, verification=verification)


async def on_host(stage: Stage, action: RunScript) -> Outcome:
    """Within the executor's limits; a refused run leaves its evidence too."""
    async with stage.run.dispatching("script"):
        result = await stage.scripts().run(
            action.script, action.timeout_sec, shell=stage.script_shell(), secrets=stage.secrets
        )
        stage.run.details |= result.to_dict()
        if result.refused is not None:
            raise _refused_script(result)
    if not result.ok:
        why = "ran out of time" if result.timed_out else f"ended with exit code {result.exit_code}"
        raise AdbCommandError(f"The script {why}", command=[action.script])
    verification = Verification(mode="built_in", expected=0, observed=result.exit_code, outcome="verified")
    return Outcome(verification=verification, settle="none")


def _refused_script(result: ScriptResult) -> ActionRejected:
    """Before it began, or in the middle of its work."""
    why, has_begun = str(result.refused), str(result.refused).startswith("ended")
    return ActionRejected(
        f"The script was {why if has_begun else 'refused: ' + why.removeprefix('refused: ')}",
        hint=result.hint,
        delivery="delivered" if has_begun else "not_delivered",
    )


def shortened(text: str, limit: int = TEXT_LIMIT) -> str:
    """Head and tail of a long text, with how much is missing between."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
