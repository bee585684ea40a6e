"""Commands: on the device by its shell, on the host by the script executor. Both were permitted before."""

from __future__ import annotations

from handrail.adb.shell import Command, Script
from handrail.engine.run import Outcome
from handrail.engine.stage import Stage
from handrail.errors import ActionRejected, AdbCommandError
from handrail.protocol.envelope import Verification
from handrail.protocol.system import RunScript, Shell

TEXT_LIMIT = 64 << 10
"""Characters of output that an envelope holds; head and tail."""


async def on_device(stage: Stage, action: Shell) -> Outcome:
    """Tokens are quoted one by one; `raw` hands the text to the device's shell."""
    fill = stage.secrets.fill
    command: Command
    if action.raw:
        command = Script(fill(str(action.command)).text)
    else:
        command = [fill(token).text for token in action.tokens]
    async with stage.run.dispatching():
        output = await stage.driver.shell.run(command, check=False)
    details = {
        "exit_code": output.exit_code,
        "stdout": shortened(output.text),
        "stderr": shortened(output.stderr.decode("utf-8", "replace")),
    }
    if not output.ok:
        stage.run.details |= details
        raise AdbCommandError(f"The command ended with exit code {output.exit_code}", command=action.tokens)
    verification = Verification(mode="built_in", expected=0, observed=output.exit_code, outcome="verified")
    return Outcome(details=details, verification=verification)


async def on_host(stage: Stage, action: RunScript) -> Outcome:
    """Within the executor's limits; a refused run leaves its evidence too."""
    async with stage.run.dispatching():
        result = await stage.scripts.run(
            action.script, action.timeout_sec, shell=stage.script_shell, secrets=stage.secrets
        )
    stage.run.details |= result.to_dict()
    if result.refused is not None:
        raise ActionRejected(f"The script was refused: {result.refused}", delivery="not_delivered")
    if not result.ok:
        why = "ran out of time" if result.timed_out else f"ended with exit code {result.exit_code}"
        raise AdbCommandError(f"The script {why}", command=[action.script])
    verification = Verification(mode="built_in", expected=0, observed=result.exit_code, outcome="verified")
    return Outcome(verification=verification, settle="none")


def shortened(text: str, limit: int = TEXT_LIMIT) -> str:
    """Head and tail of a long text, with how much is missing between."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
