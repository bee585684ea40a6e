"""Watchers inside the uiautomator2 server: conditions that, when met, click or press keys."""

from __future__ import annotations

from handrail_sim.channels.u2.device import press_key
from handrail_sim.channels.u2.objects import CLICK_MS, press
from handrail_sim.channels.u2.rpc import method
from handrail_sim.channels.u2.selector import Selector
from handrail_sim.channels.u2.server import Server, Watcher


@method("registerClickUiObjectWatcher", "text", "selectors", "selector")
async def _register_click(server: Server, name: str, conditions: list[Selector], target: Selector) -> None:
    server.watchers[name] = Watcher(conditions, target=target)


@method("registerPressKeyskWatcher", "text", "selectors", "texts")
async def _register_keys(server: Server, name: str, conditions: list[Selector], keys: list[str]) -> None:
    """The misspelt name is the server's own."""
    server.watchers[name] = Watcher(conditions, keys=keys)


@method("removeWatcher", "text")
async def _remove(server: Server, name: str) -> None:
    server.watchers.pop(name, None)


@method("getWatchers")
async def _names(server: Server) -> list[str]:
    return list(server.watchers)


@method("hasAnyWatcherTriggered")
async def _any_triggered(server: Server) -> bool:
    return any(watcher.triggered for watcher in server.watchers.values())


@method("hasWatcherTriggered", "text")
async def _triggered(server: Server, name: str) -> bool:
    return name in server.watchers and server.watchers[name].triggered


@method("resetWatcherTriggers")
async def _reset(server: Server) -> None:
    for watcher in server.watchers.values():
        watcher.triggered = False


@method("runWatchers")
async def _run(server: Server) -> None:
    for watcher in list(server.watchers.values()):
        if all(server.find(condition) is not None for condition in watcher.conditions):
            watcher.triggered = await _act(server, watcher) or watcher.triggered


async def _act(server: Server, watcher: Watcher) -> bool:
    if watcher.target is not None:
        node = server.find(watcher.target)
        if node is None:
            return False
        await press(server, node, "center", CLICK_MS)
    for key in watcher.keys:
        await press_key(server, key)
    return True
