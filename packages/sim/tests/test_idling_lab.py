"""The idling provider of the Compose lab, and providers of apps in general."""

from __future__ import annotations

import asyncio
from typing import Any

from handrail_sim import shell
from tests.hand import Hand

COMPOSE = "com.handrail.composelab"
QUERY = f"content query --uri content://{COMPOSE}.agentest.idling/state"


async def told(hand: Hand, command: str = QUERY) -> str:
    return (await hand.run(shell.capture(hand.phone, command))).stdout.decode().strip()


def test_an_upload_is_named_while_nothing_on_the_screen_shows_it() -> None:
    async def story() -> None:
        hand = Hand(apps=["compose_lab"])
        await hand.open(COMPOSE)
        assert await told(hand) == "Row: 0 idle_count=0, idle_names=, version=1"
        top: Any = hand.phone.tasks.top
        top.save()
        assert await told(hand) == "Row: 0 idle_count=1, idle_names=draft upload, version=1"
        assert "Uploaded" not in hand.phone.dump()
        await hand.wait(900)
        assert await told(hand) == "Row: 0 idle_count=0, idle_names=, version=1"
        assert hand.phone.state()["apps"][COMPOSE]["uploads"] == 0
        assert top.state["uploaded"] == 1

    asyncio.run(story())


def test_asking_a_provider_starts_its_process() -> None:
    async def story() -> None:
        hand = Hand(apps=["compose_lab"])
        assert COMPOSE not in hand.phone.packages.processes
        assert "version=1" in await told(hand)
        assert COMPOSE in hand.phone.packages.processes

    asyncio.run(story())


def test_an_app_without_the_provider_says_so() -> None:
    async def story() -> None:
        hand = Hand(apps=["compose_lab", "contacts"])
        uri = QUERY.replace(COMPOSE, "com.google.android.contacts")
        answer = await hand.run(shell.capture(hand.phone, uri))
        assert (answer.status, answer.stdout) == (1, b"")
        assert b"Could not find provider: com.google.android.contacts.agentest.idling" in answer.stderr

    asyncio.run(story())


def test_the_libraries_of_an_app_lie_beside_its_apk() -> None:
    async def story() -> None:
        hand = Hand(apps=["flutter_lab"])
        listed = await told(hand, "ls /data/app/com.handrail.flutterlab/lib/arm64")
        assert listed.split() == ["libapp.so", "libflutter.so"]

    asyncio.run(story())
