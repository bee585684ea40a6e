"""`handrail eval --fleet`: the tasks as units, the results as those of one machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from handrail.cli.run_fleet import FleetOptions, hand_in
from handrail.errors import FAMILIES, InvalidAction

if TYPE_CHECKING:
    from handrail.cli.evaluate import EvaluateOptions, EvaluationSuite
    from handrail.cli.evaluation.result import Evaluation


def evaluate_on_fleet(
    suite: EvaluationSuite,
    options: EvaluateOptions,
    chosen: FleetOptions,
    model_name: Callable[[Any, EvaluateOptions], str],
    publish: Callable[[Evaluation, EvaluateOptions], None],
) -> int:
    """The exit code, as on one machine."""
    from handrail.cli.evaluation.fleet_unit import task_result, task_units  # noqa: PLC0415
    from handrail.cli.evaluation.result import Evaluation  # noqa: PLC0415

    _refuse(options, chosen)
    tasks: list[Any] = list(suite.tasks)
    mode = {"mode": "text" if options.text else None, "sees": options.see}
    units = task_units(
        tasks, lambda task: {"name": model_name(task, options), **mode}, options.max_steps, chosen.where
    )
    began = time.monotonic()
    client, run, interrupted = hand_in(units, chosen, to_stderr=True)
    if chosen.detach:
        return 0
    told = list(client.units(run))
    results = [
        task_result(unit, task)
        for unit, task in zip(told, tasks, strict=True)
        if unit["state"] not in ("todo", "running", "stopped")
    ]
    jobs = len({(one["host"], phone) for one in told for phone in one["phones"] or ()}) or 1
    took = 1000 * (time.monotonic() - began)
    ran = Evaluation(options.model, options.seed, len(tasks), tuple(results), took, jobs)
    publish(ran, options)
    if interrupted:
        return FAMILIES["cancelled"].exit_code
    if any(one["state"] in ("lost", "unknown") for one in told):
        return FAMILIES["device"].exit_code
    failed = options.fail_under is not None and ran.percent < options.fail_under
    return FAMILIES["outcome"].exit_code if failed else 0


def _refuse(options: EvaluateOptions, chosen: FleetOptions) -> None:
    for name, is_set, why in (
        ("suite", options.suite != "phone", "browsers of hosts take no tasks"),
        (
            "base-url",
            options.base_url is not None,
            "a host speaks to the model's address of its own settings",
        ),
        ("out", options.out is not None, "runs are kept where the phones are"),
        ("each-device", chosen.each_device, "every task makes a phone of its own"),
    ):
        if is_set:
            raise InvalidAction(f"--{name} does not go with --fleet: {why}", path=name, hint="Leave it out.")
