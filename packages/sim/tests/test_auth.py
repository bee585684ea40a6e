from __future__ import annotations

import asyncio
import base64
from functools import cache
from itertools import count

from handrail_sim.adbd.auth import _STRUCT, MODULUS_SIZE, KeyRing, decode_key, verify
from handrail_sim.adbd.daemon import Adbd
from handrail_sim.adbd.wire import Auth, Command
from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
from tests.bare_phone import bare_phone
from tests.host import Host, settle

EXPONENT = 65537
DIGEST_INFO = bytes.fromhex("3021300906052b0e03021a05000414")


@cache
def primes() -> tuple[int, int]:
    """A Mersenne prime and the first (probable) prime above 2^768: a key anybody may know."""
    return 2**1279 - 1, next(n for n in count(2**768 + 1, 2) if pow(2, n - 1, n) == 1)


def public_key(name: str = "somebody@laptop") -> bytes:
    modulus = primes()[0] * primes()[1]
    little = modulus.to_bytes(MODULUS_SIZE, "little")
    raw = _STRUCT.pack(MODULUS_SIZE // 4, 0, little, bytes(MODULUS_SIZE), EXPONENT)
    return base64.b64encode(raw) + b" " + name.encode() + b"\0"


def sign(token: bytes) -> bytes:
    p, q = primes()
    block = (
        b"\0\1" + b"\xff" * (MODULUS_SIZE - 3 - len(DIGEST_INFO) - len(token)) + b"\0" + DIGEST_INFO + token
    )
    secret = pow(EXPONENT, -1, (p - 1) * (q - 1))
    return pow(int.from_bytes(block, "big"), secret, p * q).to_bytes(MODULUS_SIZE, "big")


def test_a_signature_fits_its_token_and_no_other() -> None:
    key = decode_key(public_key())
    assert key is not None
    token = bytes(range(20))
    assert verify(key, token, sign(token))
    assert not verify(key, bytes(20), sign(token))
    assert not verify(key, token, b"\xff" * MODULUS_SIZE)
    assert not verify(key, token, b"")


def test_what_is_no_key_is_not_read_as_one() -> None:
    for payload in (b"", b"!!!! a@b\0", b"QUJD a@b\0", base64.b64encode(bytes(524)) + b" x\0"):
        assert decode_key(payload) is None


def test_a_key_has_a_name_and_a_fingerprint_as_the_prompt_shows_it() -> None:
    key = decode_key(public_key())
    assert key is not None
    assert key.name == "somebody@laptop"
    assert len(key.fingerprint.split(":")) == 16


def test_a_host_waits_until_its_key_is_accepted_and_is_known_from_then_on() -> None:
    async def story() -> None:
        keys = KeyRing()
        asked: list[str] = []
        keys.on_ask(lambda key: asked.append(key.name))
        adbd = Adbd(bare_phone(), keys=keys)
        host = Host(adbd)
        [question] = await host.connect()
        assert question[:2] == (Command.AUTH, Auth.TOKEN)
        host.send(Command.AUTH, Auth.SIGNATURE, 0, sign(question.payload))
        [again] = await host.packets()
        assert again.command == Command.AUTH
        assert again.payload != question.payload
        host.send(Command.AUTH, Auth.PUBLIC_KEY, 0, public_key())
        host.send(Command.OPEN, 1, 0, b"shell:id\0")
        assert not await host.packets()
        assert asked == ["somebody@laptop"]
        keys.accept()
        assert [packet.command for packet in await host.packets()] == [Command.CNXN]

        other = Host(adbd)
        [question] = await other.connect()
        other.send(Command.AUTH, Auth.SIGNATURE, 0, sign(question.payload))
        assert [packet.command for packet in await other.packets()] == [Command.CNXN]
        adbd.stop()
        await settle()

    asyncio.run(story())


def test_a_signature_without_a_question_opens_nothing() -> None:
    async def story() -> None:
        keys = KeyRing()
        key = decode_key(public_key())
        assert key is not None
        keys.accept(key)
        adbd = Adbd(bare_phone(), keys=keys)
        host = Host(adbd)
        host.send(Command.AUTH, Auth.SIGNATURE, 0, sign(b""))
        assert not await host.packets()
        adbd.stop()

    asyncio.run(story())


def test_the_prompt_on_the_screen_lets_a_host_in_once_or_always() -> None:
    async def story() -> None:
        phone = bare_phone()
        adbd = Adbd(phone, keys=KeyRing())
        for always, asked_again in ((False, True), (True, False)):
            host = Host(adbd)
            await host.connect()
            host.send(Command.AUTH, Auth.PUBLIC_KEY, 0, public_key())
            assert not await host.packets()
            phone.prompts.pop()(True, always)
            assert [packet.command for packet in await host.packets()] == [Command.CNXN]
            next_one = Host(adbd)
            [question] = await next_one.connect()
            next_one.send(Command.AUTH, Auth.SIGNATURE, 0, sign(question.payload))
            [answer] = await next_one.packets()
            assert (answer.command == Command.AUTH) is asked_again
        adbd.stop()

    asyncio.run(story())


def test_a_denied_host_goes_on_waiting() -> None:
    async def story() -> None:
        phone = bare_phone()
        adbd = Adbd(phone, keys=KeyRing())
        host = Host(adbd)
        await host.connect()
        host.send(Command.AUTH, Auth.PUBLIC_KEY, 0, public_key())
        phone.prompts.pop()(False, False)
        assert adbd.keys is not None
        adbd.keys.accept()
        assert not await host.packets()
        adbd.stop()

    asyncio.run(story())


def test_the_prompt_goes_from_the_screen_when_its_key_is_accepted_elsewhere() -> None:
    async def story() -> None:
        phone, keys = Phone(clock=ManualClock(), apps=["launcher"]), KeyRing()
        adbd = Adbd(phone, keys=keys)
        host = Host(adbd)
        await host.connect()
        host.send(Command.AUTH, Auth.PUBLIC_KEY, 0, public_key())
        assert "Allow USB debugging?" in phone.dump()
        keys.accept()
        phone.catch_up()
        assert "Allow USB debugging?" not in phone.dump()
        adbd.stop()

    asyncio.run(story())
