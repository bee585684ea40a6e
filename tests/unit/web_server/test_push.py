"""Who is told of a question: what is sent, to which addresses only, to how many, and until it is revoked."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from starlette.datastructures import Headers
from websockets.exceptions import ConnectionClosed

from handrail.config import Config
from handrail.errors import InvalidAction
from handrail.protocol.device import Tap
from handrail.safety.approval_request import AuthorizationRequest
from handrail.safety.approval_store import new_id
from handrail.web_server.auth import Visitor
from handrail.web_server.push_notifications import MOST_SUBSCRIPTIONS, NotifyUrl
from handrail.web_server.server import PageHosts
from tests.scenario.world import play_live, until
from tests.unit.web_server.door import Answer, Door, door
from tests.unit.web_server.push_service import HOST, PUBLIC, PushService, push_service

ASYNC_RUNNER = play_live

SECRETS = ("Pay 12.50", "com.bank.app", "shopper", "I pay for the mug", "emulator-5554")
ASKED = AuthorizationRequest.of(
    Tap(target="Pay 12.50"), device="emulator-5554", fingerprint="f", label="Pay 12.50",
    instruction="Tap “Pay 12.50” in com.bank.app", reason="I pay for the mug", asked_by="shopper",
)  # fmt: skip


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


NO_KEYS = [
    {"p256dh": "AAAA", "auth": "AAAA"},
    {"p256dh": encoded(b"\4" * 65), "auth": encoded(bytes(16))},
    {"p256dh": "é", "auth": "?"},
    {},
]
NO_PLACES = [
    "http://ntfy.sh/x", "ntfy.sh/x", "ftp://ntfy.sh", "https://", "https://a@b/x", "json+http://ntfy.sh/x",
    "http://10.0.0.2/x",
]  # fmt: skip


PRIVATE = [
    f"http://{HOST}/x", "https://localhost/x", "https://127.0.0.1/x", "https://[::1]/x", "https://0x7f.1/x",
    "https://2130706433/x", "https://10.0.0.8/x", "https://192.168.1.1/x", "https://169.254.169.254/x",
    "https://100.64.0.1/x", "https://[fd00::1]/x", "https://[fe80::1]/x", "https://[::ffff:10.0.0.1]/x",
    "https://nas.local/x", "https://intranet/x", "https://0.0.0.0/x", "https://[64:ff9b::7f00:1]/x",
    f"https://me@{HOST}/x", f"https://{HOST}\\@10.0.0.1/x", "ftp://push.net/x", "javascript:1", "", "https://",
    f"https://{HOST}:99999/x", "https://224.0.0.1/x", "https://desk-00.localhost:8420/x",
]  # fmt: skip


def subscription(endpoint: str = f"https://{HOST}/send/1", **more: Any) -> dict[str, Any]:
    point = ec.generate_private_key(ec.SECP256R1()).public_key()
    keys = {
        "p256dh": encoded(point.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)),
        "auth": encoded(os.urandom(16)),
    }
    return {"endpoint": endpoint, "keys": keys, "name": "A phone", **more}


@asynccontextmanager
async def told(home: Path, **options: Any) -> AsyncIterator[tuple[Door, PushService]]:
    """A door whose internet is the push service alone."""
    home.mkdir(exist_ok=True)
    async with push_service(home) as service, door(home / "home", **options) as served:
        served.context.subscriptions.network = service.network
        yield served, service


async def person(served: Door, method: str, path: str, value: Any = None, token: str | None = None) -> Answer:
    headers = {"Handrail-Page": token or await served.log_in(), "Origin": served.origin}
    body = None if value is None else json.dumps(value).encode()
    return await served.ask(
        method, path, {**headers, **({"Content-Type": "application/json"} if body else {})}, body
    )


async def asked(served: Door) -> tuple[str, asyncio.Task[Any]]:
    """A question that waits."""
    id_ = new_id()
    task = asyncio.create_task(served.runtime.approvals.ask(ASKED, id_))
    await until(lambda: any(one["approvalId"] == id_ for one in served.desk.snapshot()["approvals"]))
    return id_, task


async def stop(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_question_is_told_in_a_sealed_message_that_holds_its_id_and_nothing_else(
    tmp_path: Path,
) -> None:
    """The id's length is all that the push service could measure; tests/web opens the seal in a browser."""
    async with told(tmp_path) as (served, service):
        assert (await person(served, "POST", "/api/push", subscription())).status == 200
        id_, task = await asked(served)
        [message] = await until(lambda: service.received)
        assert message.line == "POST /send/1 HTTP/1.1"
        assert message.headers["content-encoding"] == "aes128gcm"
        assert message.headers["authorization"].startswith("vapid t=")
        # salt, size, length of the key, the key, the id, one byte of padding, the tag
        assert len(message.body) == 16 + 4 + 1 + 65 + len(id_) + 1 + 16
        everything = message.line.encode() + json.dumps(message.headers).encode() + message.body
        for word in (id_, *SECRETS):
            assert word.encode() not in everything
        assert service.dialled == [PUBLIC]
        await stop(task)


async def test_only_https_addresses_of_the_open_internet_can_be_told(tmp_path: Path) -> None:
    async with told(tmp_path) as (served, service):
        token = await served.log_in()
        for endpoint in PRIVATE:
            answer = await person(served, "POST", "/api/push", subscription(endpoint), token)
            assert (answer.status, answer.json["code"]) == (422, "INVALID_ACTION"), (endpoint, answer.json)
            assert answer.json["hint"]
        assert (service.dialled, served.context.subscriptions.all()) == ([], [])


@pytest.mark.parametrize("numbers", [["127.0.0.1"], ["10.0.0.1"], [PUBLIC, "192.168.0.9"], ["fe80::1%eth0"]])
async def test_a_name_that_leads_into_the_network_of_this_machine_is_never_dialled(
    tmp_path: Path, numbers: list[str]
) -> None:
    """Neither when it subscribes nor when it changes its mind later: the number that is dialled is judged."""
    async with told(tmp_path) as (served, service):
        service.names["rebound.net"] = numbers
        refused = await person(served, "POST", "/api/push", subscription("https://rebound.net/x"))
        assert (refused.status, "open internet" in refused.json["message"]) == (422, True)
        service.names["rebound.net"] = [PUBLIC]
        later = await person(served, "POST", "/api/push", subscription("https://rebound.net/x"))
        assert later.status == 200
        service.names["rebound.net"] = numbers
        _, task = await asked(served)
        await until(lambda: served.context.subscriptions.all()[0].problem)
        assert service.dialled == []
        await stop(task)


async def test_each_message_looks_the_name_up_once_and_dials_what_was_judged(tmp_path: Path) -> None:
    async with told(tmp_path) as (served, service):
        await person(served, "POST", "/api/push", subscription())
        service.looked_up.clear()
        _, task = await asked(served)
        await until(lambda: service.received)
        assert (service.looked_up, service.dialled) == ([HOST], [PUBLIC])
        await stop(task)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(tmp_path: Path, status: int) -> None:
    async with told(tmp_path) as (served, service):
        place = f"Location: https://{HOST}/elsewhere\r\n"
        service.answer = f"HTTP/1.1 {status} Moved\r\n{place}Content-Length: 0\r\n\r\n"
        made = (await person(served, "POST", "/api/push", subscription())).json["id"]
        tried = await person(served, "POST", f"/api/push/try?id={made}", {})
        assert str(status) in tried.json["problem"]
        assert [one.line for one in service.received] == ["POST /send/1 HTTP/1.1"]


async def test_a_false_certificate_is_told_nothing(tmp_path: Path) -> None:
    async with told(tmp_path) as (served, service):
        service.names["another.net"] = [PUBLIC]
        made = (await person(served, "POST", "/api/push", subscription("https://another.net/x"))).json["id"]
        tried = await person(served, "POST", f"/api/push/try?id={made}", {})
        assert "certificate" in tried.json["problem"].lower()
        assert service.received == []


async def test_twenty_devices_are_told_and_no_more_until_one_is_revoked(tmp_path: Path) -> None:
    async with told(tmp_path) as (served, _):
        token = await served.log_in()

        async def add(number: int) -> Answer:
            given = subscription(f"https://{HOST}/send/{number}")
            return await person(served, "POST", "/api/push", given, token)

        answers = await asyncio.gather(*[add(number) for number in range(MOST_SUBSCRIPTIONS + 5)])
        assert sorted(one.status for one in answers) == [200] * MOST_SUBSCRIPTIONS + [422] * 5
        assert "Revoke" in next(one for one in answers if one.status == 422).json["hint"]
        listed = (await person(served, "GET", "/api/push", token=token)).json["subscriptions"]
        assert len(listed) == MOST_SUBSCRIPTIONS
        assert HOST not in json.dumps(listed), "an address that lets send is told to nobody"
        gone = listed[0]["id"]
        assert (await person(served, "DELETE", f"/api/push?id={gone}", token=token)).status == 200
        assert (await person(served, "DELETE", f"/api/push?id={gone}", token=token)).status == 422
        assert (await add(99)).status == 200
        known = [one["subscription"] for one in served.events_of("device_revoked")]
        assert known == [gone]


async def test_a_revoked_device_is_told_nothing_more(tmp_path: Path) -> None:
    async with told(tmp_path) as (served, service):
        made = (await person(served, "POST", "/api/push", subscription())).json["id"]
        other = subscription(f"https://{HOST}/send/2")
        assert (await person(served, "POST", "/api/push", other)).status == 200
        await person(served, "DELETE", f"/api/push?id={made}")
        _, task = await asked(served)
        await until(lambda: service.received)
        assert [one.line for one in service.received] == ["POST /send/2 HTTP/1.1"]
        await stop(task)


async def test_a_browser_that_has_unsubscribed_is_forgotten(tmp_path: Path) -> None:
    async with told(tmp_path) as (served, service):
        service.answer = "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"
        await person(served, "POST", "/api/push", subscription())
        _, task = await asked(served)
        await until(lambda: not served.context.subscriptions.all())
        await stop(task)


@pytest.mark.parametrize("keys", NO_KEYS)
async def test_keys_that_are_none_are_refused(tmp_path: Path, keys: dict[str, str]) -> None:
    async with told(tmp_path) as (served, _):
        answer = await person(served, "POST", "/api/push", subscription() | {"keys": keys})
        assert (answer.status, served.context.subscriptions.all()) == (422, [])


async def test_a_program_can_neither_look_nor_be_told_nor_log_a_device_in(tmp_path: Path) -> None:
    async with told(tmp_path, pages=PageHosts(public="desk.ferry-lane.net")) as (served, _):
        answers = [
            await served.get("/api/push"),
            await served.send("POST", "/api/push", subscription()),
            await served.send("DELETE", "/api/push?id=x", None),
            await served.send("POST", "/api/push/try?id=x", {}),
            await served.send("POST", "/api/device-links", {}),
        ]
        assert [one.status for one in answers] == [403] * 5
        assert (await served.ask("GET", "/api/push")).status == 401


# logging a device in


async def test_a_qr_code_logs_one_device_in_within_two_minutes(tmp_path: Path) -> None:
    async with told(tmp_path, pages=PageHosts(public="desk.ferry-lane.net")) as (served, _):
        made = (await person(served, "POST", "/api/device-links", {})).json
        assert made["picture"].startswith("data:image/svg+xml")
        place, _, code = made["url"].partition("#code=")
        assert (place, made["seconds"]) == ("https://desk.ferry-lane.net/approve", 120)
        assert [(await served.exchange(code)).status for _ in range(2)] == [200, 401]


async def test_a_qr_code_is_worth_nothing_after_two_minutes(tmp_path: Path) -> None:
    async with told(tmp_path) as (served, _):
        auth = served.context.auth
        fresh, old = auth.link_code(120_000), auth.link_code(0)
        assert (await served.exchange(old)).status == 401
        assert (await served.exchange(fresh)).status == 200


async def test_a_desk_that_no_other_device_reaches_says_how_it_would_be_reached(tmp_path: Path) -> None:
    async with told(tmp_path) as (served, _):
        answer = await person(served, "POST", "/api/device-links", {})
        assert (answer.status, answer.json["code"]) == (501, "UNSUPPORTED")
        assert all(word in answer.json["hint"] for word in ("--cert", "--key", "tailscale", "--public"))


async def test_a_device_that_is_told_stays_logged_in_over_a_restart_until_it_is_revoked(
    tmp_path: Path,
) -> None:
    """Only over TLS; here a tunnel speaks it. Its open line ends with the revocation too."""
    public = "desk.ferry-lane.net"
    at_public = {"Host": public, "Origin": f"https://{public}"}
    pages = PageHosts(public=public, is_tunnel=True)
    async with told(tmp_path, pages=pages) as (served, _):
        code = served.context.auth.link_code()
        token = (await served.exchange(code, **at_public)).json["token"]
        here = {"Handrail-Page": token, **at_public, "Content-Type": "application/json"}
        other = {**here, "Handrail-Page": await _token(served, at_public)}
        assert (await _posted(served, here)).status == 200
    async with told(tmp_path, pages=pages) as (served, _):
        assert (await served.ask("GET", "/api/approvals", here)).status == 200
        assert (await served.ask("GET", "/api/approvals", other)).status == 401, "it was never told"
        elsewhere = {"Handrail-Page": token, "Origin": served.origin}
        assert (await served.ask("GET", "/api/approvals", elsewhere)).status == 401, "another host"
        [device] = served.context.subscriptions.all()
        async with served.socket(host=public, Origin=f"https://{public}") as line:
            await line.send(json.dumps({"type": "HELLO", "clientId": "x", "token": token}))
            await line.recv()
            assert (await person(served, "DELETE", f"/api/push?id={device.id}")).status == 200
            with suppress(ConnectionClosed):
                async for _ in line:
                    pass
            assert line.close_code == 4401
        assert (await served.ask("GET", "/api/approvals", here)).status == 401


async def test_without_tls_a_login_ends_with_the_server(tmp_path: Path) -> None:
    async with told(tmp_path) as (served, _):
        token = await served.log_in()
        await person(served, "POST", "/api/push", subscription(), token)
        assert [one.login for one in served.context.subscriptions.all()] == [""]


async def _token(served: Door, headers: dict[str, str]) -> str:
    return str((await served.exchange(served.context.auth.link_code(), **headers)).json["token"])


async def _posted(served: Door, headers: dict[str, str]) -> Answer:
    return await served.ask("POST", "/api/push", headers, json.dumps(subscription()).encode())


async def test_whoever_comes_by_a_tunnel_comes_from_another_machine(tmp_path: Path) -> None:
    """Its requests have this machine's address; policy must not take them for this machine's own."""
    pages = PageHosts(public="desk.ferry-lane.net", is_tunnel=True)
    async with told(tmp_path, pages=pages) as (served, _):
        auth = served.context.auth
        bearer = {"authorization": f"Bearer {auth.keys.token}"}

        def is_remote(**more: str) -> bool:
            found = auth.visitor(Headers({**bearer, **more}), "127.0.0.1")
            assert isinstance(found, Visitor)
            return found.is_remote

        assert not is_remote(host=served.host)
        assert is_remote(host="desk.ferry-lane.net")
        assert is_remote(host=served.host, **{"x-forwarded-for": "203.0.113.9"})


# ntfy and webhooks


@pytest.mark.parametrize(
    ("given", "is_json"), [(f"https://{HOST}/topic", False), (f"json+https://{HOST}/hook", True)]
)
async def test_a_place_that_the_environment_names_is_told_an_id_and_no_word_of_the_screen(
    tmp_path: Path, given: str, is_json: bool
) -> None:
    async with told(tmp_path, pages=PageHosts(public="desk.ferry-lane.net")) as (served, service):
        served.context.notifier._place = NotifyUrl.read(given)
        id_, task = await asked(served)
        [message] = await until(lambda: service.received)
        everything = json.dumps(message.headers) + message.body.decode()
        assert [word for word in SECRETS if word in everything] == []
        link = f"https://desk.ferry-lane.net/approve#id={id_}"
        if is_json:
            assert json.loads(message.body)["url"] == link
        else:
            assert (message.headers["click"], message.body) == (link, b"An agent waits for your yes or no.")
        await stop(task)


def test_nobody_is_told_by_default(tmp_path: Path) -> None:
    assert Config.from_env({"HOME": str(tmp_path)}).notify_url is None
    assert NotifyUrl.read(None) is None


@pytest.mark.parametrize("url", NO_PLACES)
def test_plain_http_to_another_machine_is_no_place_to_tell(tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidAction) as refused:
        Config.from_env({"HOME": str(tmp_path), "HANDRAIL_NOTIFY_URL": url})
    assert refused.value.details["path"] == "HANDRAIL_NOTIFY_URL"
    assert re.search("https", refused.value.message)
