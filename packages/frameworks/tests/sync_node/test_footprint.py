from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from packages.frameworks.tests.sync_node.node import Scene, run_peer
from packages.frameworks.tests.sync_node.test_work import play

from handrail_frameworks import react_native as scripts

SAME = """JSON.stringify([
  fetch === lab.natives.fetch, setTimeout === lab.natives.setTimeout,
  clearTimeout === lab.natives.clearTimeout, clearInterval === lab.natives.clearInterval,
  XMLHttpRequest.prototype.open === lab.natives.open, XMLHttpRequest.prototype.send === lab.natives.send,
  '__handrailIdle' in globalThis, '__handrailFibers' in globalThis])"""
UNTOUCHED = [True] * 6 + [False] * 2
SHAPES = """JSON.stringify([
  lab.shape('fetch'), lab.shape('setTimeout'), lab.shape('clearTimeout'), lab.shape('clearInterval'),
  lab.shape('open', XMLHttpRequest.prototype), lab.shape('send', XMLHttpRequest.prototype)])"""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    yield from run_peer()


def test_everything_is_put_back_at_the_end(port: int) -> None:
    async def story(stage: Scene) -> None:
        assert json.loads(await stage.run(SAME)) == UNTOUCHED
        async with stage.attached():
            assert json.loads(await stage.run(SAME)) == [False] * 6 + [True, False]
        assert json.loads(await stage.run(SAME)) == UNTOUCHED

    play(port, story)


def test_replaced_functions_look_like_the_originals(port: int) -> None:
    async def story(stage: Scene) -> None:
        before = await stage.run(SHAPES)
        async with stage.attached():
            assert await stage.run(SHAPES) == before

    play(port, story)


def test_results_this_and_arguments_pass_through(port: int) -> None:
    async def story(stage: Scene) -> None:
        async with stage.attached():
            await stage.run("lab.hear = function (...given) { lab.got = [given, this === lab.handle]; }; 0")
            await stage.run("lab.handle = setTimeout(lab.hear, 1, 'a', 2); 0")
            await stage.until("lab.got")
            assert json.loads(await stage.run("JSON.stringify(lab.got)")) == [["a", 2], True]
            await stage.run("lab.util.promisify(setTimeout)(1, 'v').then((v) => { lab.slept = v; }); 0")
            await stage.until("lab.slept === 'v'")
            assert await stage.run("fetch('data:,x') instanceof Promise")

    play(port, story)


@pytest.mark.parametrize(
    "wrong",
    [
        "setTimeout('no function', 1)",
        "new XMLHttpRequest().send()",
        "XMLHttpRequest.prototype.send.call({})",
        "XMLHttpRequest.prototype.open.call(5, 'GET', 'x')",
        "new XMLHttpRequest().open()",
        "setTimeout()",
    ],
)
def test_errors_are_thrown_as_before(port: int, wrong: str) -> None:
    caught = f"(() => {{ try {{ {wrong}; return 'fine'; }} catch (e) {{ return String(e); }} }})()"

    async def story(stage: Scene) -> None:
        before = await stage.run(caught)
        async with stage.attached() as sync:
            assert await stage.run(caught) == before
            assert await sync.wait_for_sync(5_000)

    play(port, story)


def test_a_failed_request_that_nobody_handles_is_still_reported(port: int) -> None:
    async def story(stage: Scene) -> None:
        async with stage.attached() as sync:
            await stage.run("lab.unhandled = []; fetch('nonsense:/'); fetch('nonsense:/').catch(() => {}); 0")
            await stage.until("lab.unhandled.length")
            assert await sync.wait_for_sync(5_000)
            assert await stage.run("lab.unhandled.length") == 1

    play(port, story)


def test_who_wrapped_a_wrapper_keeps_it_and_it_counts_no_more(port: int) -> None:
    async def story(stage: Scene) -> None:
        async with stage.attached():
            await stage.run(
                "lab.inner = setTimeout; globalThis.setTimeout = (...all) => lab.inner(...all); 0"
            )
        assert await stage.run("setTimeout !== lab.natives.setTimeout && !('__handrailIdle' in globalThis)")
        await stage.run("lab.rang = 0; setTimeout(() => { lab.rang = 1; }, 1); 0")
        await stage.until("lab.rang")
        await stage.run("globalThis.setTimeout = lab.natives.setTimeout; 0")

    play(port, story)


def test_two_visitors_share_one_instrument_and_another_version_is_replaced(port: int) -> None:
    async def story(stage: Scene) -> None:
        async with stage.attached():
            assert await stage.run(scripts.install()) == "there"
            await stage.run("lab.old = { ...__handrailIdle, version: 0 }; 0")
            await stage.run("Object.defineProperty(globalThis, '__handrailIdle', { value: lab.old }); 0")
            assert await stage.run(scripts.install()) == "installed"
        assert json.loads(await stage.run(SAME)) == UNTOUCHED

    play(port, story)


def test_a_visitor_who_is_interrupted_while_waiting_still_cleans_up(port: int) -> None:
    async def story(stage: Scene) -> None:
        async with stage.attached() as sync:
            await stage.run("setTimeout(() => {}, 400); 0")
            waiting = asyncio.ensure_future(sync.wait_for_sync(30_000))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert sync.has_hermes
        assert json.loads(await stage.run(SAME)) == UNTOUCHED

    play(port, story)
