"""Actors of the fleet, and the program that places them: the only file that imports Ray.

One detached, named actor for each host, bound to its machine. Ray starts it again there, and nowhere else; it
never repeats a call. The head's actor passes calls of hosts on to the head's own door.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any

import ray
from ray.exceptions import RayError

from handrail.errors import ERRORS, HandrailError
from handrail_fleet.host import HostSettings, serve_host
from handrail_fleet.transport import PATIENCE_S, HeadAway, HttpTransport, join_token, versions

NAMESPACE = "handrail"
HEAD = "head"


class HeadActor:
    """On the head's machine: hosts need no other port than Ray's, and no other token."""

    def __init__(self, address: str, joining: str) -> None:
        token, host_secret = join_token(joining)
        self._way = HttpTransport(address, token, host_secret)

    async def call(self, name: str, data: dict[str, Any], wait_ms: float) -> dict[str, Any]:
        try:
            return {"answer": await self._way.call(name, data, wait_ms=wait_ms)}
        except HandrailError as error:
            return {"error": error.to_dict(), "away": isinstance(error, HeadAway)}

    async def put(self, name: str, offset: int, total: int, chunk: bytes) -> dict[str, Any]:
        try:
            return {"answer": await self._way.put(name, offset, total, chunk)}
        except HandrailError as error:
            return {"error": error.to_dict(), "away": isinstance(error, HeadAway)}


class RayTransport:
    """Calls of a host's agent, carried by Ray."""

    def __init__(self) -> None:
        self._head: Any = None

    async def call(self, name: str, data: Mapping[str, Any], *, wait_ms: float = 0.0) -> Any:
        return await self._ask("call", PATIENCE_S + wait_ms / 1000, name, dict(data), wait_ms)

    async def put(self, name: str, offset: int, total: int, chunk: bytes) -> int:
        return int(await self._ask("put", PATIENCE_S, name, offset, total, chunk))

    async def _ask(self, method: str, seconds: float, *arguments: Any) -> Any:
        try:
            if self._head is None:
                self._head = await asyncio.to_thread(ray.get_actor, HEAD, NAMESPACE)
            reference = getattr(self._head, method).remote(*arguments)
            async with asyncio.timeout(seconds):
                told = await asyncio.wrap_future(reference.future())
        except (RayError, ValueError, TimeoutError) as error:
            self._head = None
            raise HeadAway(f"the head did not answer by Ray: {type(error).__name__}") from None
        if "error" not in told:
            return told["answer"]
        failure = told["error"]
        kind = HeadAway if told["away"] else ERRORS.get(failure["code"], HandrailError)
        raise kind(failure["message"], hint=failure["hint"])

    async def close(self) -> None: ...


class HostActor:
    """The agent of a host. Handrail's loop has a thread of its own, from the beginning on: an actor that Ray
    starts again works again without anybody's call."""

    def __init__(self, settings: dict[str, Any]) -> None:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
        self._settings = HostSettings(**settings)
        self._thread = threading.Thread(target=self._work, name="handrail", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            asyncio.run(serve_host(self._settings, RayTransport()))
        except BaseException:
            logging.getLogger(__name__).exception("the agent of %s ended", self._settings.name)
            os._exit(1)  # Ray starts it again
        os._exit(0 if self._settings.is_down else 1)

    def about(self) -> dict[str, Any]:
        return {"pid": os.getpid(), "name": self._settings.name, **versions()}


def _place(kind: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    options = {
        "namespace": NAMESPACE,
        "lifetime": "detached",
        "num_cpus": 0,
        "get_if_exists": True,
        "max_restarts": -1,
    }
    if kind == "head":
        made = ray.remote(HeadActor).options(
            name=HEAD, resources={"handrail-head": 1}, max_task_retries=0, max_concurrency=1000, **options
        )
        made.remote(**settings)
        return {"placed": HEAD}
    if kind == "host":
        name = settings["name"]
        made = ray.remote(HostActor).options(
            name=f"host-{name}", resources={f"handrail-host-{name}": 1}, max_task_retries=0, **options
        )
        return dict(ray.get(made.remote(dict(settings)).about.remote(), timeout=50))
    if kind == "end":
        ray.kill(ray.get_actor(f"host-{settings['name']}", NAMESPACE), no_restart=True)
        return {"ended": settings["name"]}
    raise SystemExit(f"there is no actor {kind}")


def main() -> None:
    """`python -m handrail_fleet.ray_actors KIND ADDRESS SETTINGS`"""
    kind, address, settings = sys.argv[1:4]
    ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level=logging.ERROR)
    told = _place(kind, json.loads(settings))
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
    ray.shutdown()


if __name__ == "__main__":
    main()
