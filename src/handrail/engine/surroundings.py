"""Actions on what is around the app whose proof is a read of the device, not of the screen."""

from __future__ import annotations

from handrail.android import apps
from handrail.android.packages import pid_of
from handrail.engine.run import Outcome
from handrail.engine.stage import Stage
from handrail.errors import HandrailError, Unsupported, VerificationFailed
from handrail.protocol.envelope import Verification
from handrail.protocol.system import SetClipboard, StopApp


async def stop_app(stage: Stage, action: StopApp) -> Outcome:
    """Its process is gone."""
    shell = stage.driver.shell
    async with stage.run.dispatching():
        await apps.stop(shell, action.package)
    pid = await pid_of(shell, action.package)
    observed = "stopped" if pid is None else f"process {pid}"
    failure = VerificationFailed(
        f"{action.package} still runs as {observed}", expected="stopped", observed=observed
    )
    return _proved("stopped", observed, failure)


async def set_clipboard(stage: Stage, action: SetClipboard) -> Outcome:
    """It reads back. Text that holds a secret is told as it was given."""
    text = stage.secrets.fill(action.text).text
    async with stage.run.dispatching():
        await stage.driver.set_clipboard(text)
    try:
        found = await stage.driver.get_clipboard()
    except Unsupported:
        return Outcome()
    observed = action.text if found == text else found
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
