"""Commands on a phone, reached directly and by the stock adb server: the same promises for both."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager

import pytest

from handrail.adb.device import AdbDevice
from handrail.adb.shell import FirstBytes, Script, quote
from handrail.errors import AdbCommandError, DeviceOffline, InvalidAction, Timeout
from handrail_sim.adbd.server import Served
from tests.unit.adb.phones import WAYS, reached, running, until

Opening = AbstractAsyncContextManager[tuple[AdbDevice, Served]]
Reached = tuple[AdbDevice, Served]


@pytest.fixture(params=WAYS)
def phone(request: pytest.FixtureRequest, server_env: dict[str, str]) -> Opening:
    return reached(request.param, server_env)


async def test_exit_code_and_both_outputs_come_apart(phone: Reached) -> None:
    device, _ = phone
    done = await device.shell.run(Script("echo out; echo err >&2; exit 7"), check=False)
    assert (done.stdout, done.stderr, done.exit_code) == (b"out\n", b"err\n", 7)


async def test_a_failing_command_raises_with_its_own_words(phone: Reached) -> None:
    device, _ = phone
    with pytest.raises(AdbCommandError, match="/nowhere: No such file") as caught:
        await device.shell.run(["ls", "/nowhere"])
    assert caught.value.details["exit_code"] == 1
    assert caught.value.details["command"] == "ls /nowhere"
    assert caught.value.details["delivery"] == "delivered"


async def test_a_command_that_does_not_read_its_input_is_no_failure(phone: Reached) -> None:
    device, _ = phone
    assert (await device.shell.run(["echo", "hi"], stdin=bytes(1 << 20))).stdout == b"hi\n"


async def test_an_endless_command_ends_at_its_deadline(phone: Reached) -> None:
    device, served = phone
    with pytest.raises(Timeout, match="`yes`") as caught:
        await device.shell.run(["yes"], timeout_ms=200, limit=1000)
    assert caught.value.details["delivery"] == "unknown"
    await until(lambda: not running(served.phone))


async def test_leaving_the_block_ends_the_command(phone: Reached) -> None:
    device, served = phone
    async with device.shell.start(Script("echo ready; sleep 30; echo late")) as process:
        async for piece in process:
            assert piece == b"ready\n"
            break
        await until(lambda: "sleep" in running(served.phone))
    await until(lambda: not running(served.phone))


async def test_a_reset_stream_is_an_error_not_an_answer(phone: Reached) -> None:
    device, served = phone
    served.phone.faults.add("stream_reset", command="getprop", bytes=100)
    with pytest.raises(AdbCommandError, match="before the command's end") as caught:
        await device.shell.run(["getprop"])
    assert caught.value.details["delivery"] == "unknown"
    served.phone.faults.clear()
    assert "ro.product.model" in (await device.shell.run(["getprop"])).text


async def test_a_phone_that_goes_offline_in_the_middle_says_so(phone: Reached) -> None:
    device, served = phone
    work = asyncio.ensure_future(device.shell.run(["sleep", "30"]))
    await until(lambda: "sleep" in running(served.phone))
    served.phone.faults.add("offline")
    with pytest.raises(DeviceOffline) as caught:
        await work
    assert caught.value.details["delivery"] == "unknown"
    assert caught.value.hint


@pytest.mark.parametrize(
    "command", ["ls -l", [], Script(""), Script("a\0b"), ["a\0b"], ["a\ud83d"]], ids=repr
)
async def test_what_is_no_command_is_refused_before_it_is_sent(command: object, phone: Reached) -> None:
    device, _ = phone
    with pytest.raises(InvalidAction):
        await device.shell.run(command)  # type: ignore[arg-type]


async def test_a_command_that_is_too_long_is_refused_before_it_is_sent(phone: Reached) -> None:
    device, _ = phone
    with pytest.raises(InvalidAction, match="too long"):
        await device.shell.run(["echo", "x" * (2 << 20)])


def test_plain_words_stay_readable() -> None:
    assert quote(["am", "start", "-n", "a.b/.C"]) == "am start -n a.b/.C"
    assert quote(["it's", "", "a=b"]) == "'it'\"'\"'s' '' 'a=b'"


def test_the_head_of_the_output_is_kept_and_the_rest_counted() -> None:
    kept = FirstBytes(5)
    for piece in (b"abc", b"def", b"ghi"):
        kept.add(piece)
    assert (kept.value(), kept.size, kept.dropped) == (b"abcde", 5, 4)
