"""Where each gesture on a recorded screen leads: what was written down, and a guess for what was not."""

from __future__ import annotations

from dataclasses import dataclass, field

from handrail_sim.apps.replay.explain import explain
from handrail_sim.apps.replay.recorded import Recorded, Screen
from handrail_sim.apps.replay.recording import Recording
from handrail_sim.apps.replay.transitions import Transition, find_target, taker

ANY = -1


@dataclass(slots=True)
class Steps:
    """The ways out of one screen. Elements are named by their order in it; ANY stands for each that can."""

    taps: dict[int, int] = field(default_factory=dict)
    long_presses: dict[int, int] = field(default_factory=dict)
    typed: dict[int, tuple[str, int]] = field(default_factory=dict)
    swipes: dict[str, int] = field(default_factory=dict)
    back: int | None = None


def steps_from(recording: Recording, number: int) -> Steps:
    """All ways out of a screen; where nothing is written, the next one is reached by a guess."""
    shot = recording.shots[number]
    steps = Steps()
    names = (shot.name, shot.name.rpartition(".")[0])
    written = [one for one in recording.transitions if one.source.rpartition("/")[2] in names]
    for transition in written:
        goal = recording.number(transition.goal)
        if goal is not None:
            _add(steps, shot.screen, transition, goal)
    if not written and not recording.complete and number + 1 < len(recording.shots):
        _guess(steps, shot.screen, recording.shots[number + 1].screen, number + 1)
    return steps


def _add(steps: Steps, screen: Screen, transition: Transition, goal: int) -> None:
    action = transition.action
    if action == "back":
        steps.back = goal
    elif action.startswith("swipe_"):
        steps.swipes[action.removeprefix("swipe_")] = goal
    elif action == "type":
        node = find_target(screen, transition.target) if transition.target else None
        steps.typed[node.order if node else ANY] = (transition.text, goal)
    else:
        ways = steps.long_presses if action == "long_press" else steps.taps
        ways[_order(screen, transition.target, action == "long_press")] = goal


def _order(screen: Screen, target: str, long: bool) -> int:
    node = find_target(screen, target) if target else None
    return taker(node, long).order if node else ANY


def _guess(steps: Steps, before: Screen, after: Screen, goal: int) -> None:
    guess = explain(before, after)
    if guess is None:
        steps.taps[ANY] = goal
    elif guess.action.startswith("swipe_"):
        steps.swipes[guess.action.removeprefix("swipe_")] = goal
    else:
        node: Recorded | None = guess.node
        steps.taps[node.order if node else ANY] = goal
    if not any(node.clickable for node in before.nodes):
        steps.swipes.setdefault("left", goal)
