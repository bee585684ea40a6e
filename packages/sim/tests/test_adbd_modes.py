"""adbd's own commands: the install path of Android 14, lists of debuggable apps, root, TCP and USB."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from handrail_sim.adbd.daemon import FEATURES, Adbd
from handrail_sim.adbd.wire import Command
from handrail_sim.channels.emulator import decode
from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
from handrail_sim.shell.run import is_root
from handrail_sim.system.properties import make_userdebug
from tests.apks import launcher_apk
from tests.host import Host, settle

NOTES = "com.handrail.notes"


def modes_test(test: Callable[[Host, Phone], Awaitable[None]]) -> Callable[[], None]:
    def run() -> None:
        async def story() -> None:
            phone = Phone(clock=ManualClock(), apps=["notes", "contacts"])
            host = Host(Adbd(phone))
            await host.connect()
            await test(host, phone)
            host.connection.adbd.stop()
            await settle()

        asyncio.run(story())

    run.__name__ = test.__name__
    return run


async def again(host: Host, phone: Phone) -> Host:
    """adbd has started anew: the old connection is gone."""
    assert isinstance(phone.clock, ManualClock)
    await phone.clock.advance(200)
    assert host.wire.closed
    other = Host(host.connection.adbd)
    await other.connect()
    return other


@modes_test
async def test_an_apk_is_installed_by_abb_exec_and_its_words_need_no_quotes(host: Host, phone: Phone) -> None:
    assert {"abb_exec", "track_app"} <= set(FEATURES)
    data = launcher_apk("org.example.lamp", "Lamp")
    words = ["package", "install", "-r", "-S", str(len(data))]
    assert await host.talk("abb_exec:" + "\0".join(words), data) == b"Success\n"
    assert phone.packages.installed["org.example.lamp"].label == "Lamp"
    answer = await host.talk("abb_exec:package\0path\0$(id); ls /", ident=2)
    assert b"uid=" not in answer
    assert b"bin" not in answer


@modes_test
async def test_an_incremental_install_is_refused_so_that_adb_streams(host: Host, phone: Phone) -> None:
    before = set(phone.packages.installed)
    answer = await host.talk("abb_exec:package\0install-incremental\0base.apk:1:base.apk:0")
    assert b"install-incremental" in answer
    assert b"Success" not in answer
    assert set(phone.packages.installed) == before


@modes_test
async def test_jdwp_lists_only_processes_that_can_be_debugged(host: Host, phone: Phone) -> None:
    assert await host.talk("jdwp") == b""
    phone.start_activity(package="com.google.android.contacts")
    phone.start_activity(package=NOTES)
    assert await host.talk("jdwp", ident=2) == f"{phone.packages.pid_of(NOTES)}\n".encode()


@modes_test
async def test_a_tracker_is_told_of_every_start_and_end(host: Host, phone: Phone) -> None:
    assert await host.talk("track-jdwp", ident=1) == b"0000"
    phone.start_activity(package="com.google.android.contacts")
    await settle()
    assert await host.packets() == []
    phone.start_activity(package=NOTES)
    pid = phone.packages.pid_of(NOTES)
    [packet] = await host.packets()
    assert packet.payload == f"{len(str(pid)) + 1:04x}{pid}\n".encode()
    host.send(Command.OKAY, 1, packet.arg0)
    phone.force_stop(NOTES)
    [packet] = await host.packets()
    assert packet.payload == b"0000"
    host.send(Command.CLSE, 1, packet.arg0)
    await settle()
    assert phone.packages.watchers == []


@modes_test
async def test_track_app_speaks_adbs_protobuf(host: Host, phone: Phone) -> None:
    phone.start_activity(package=NOTES)
    answer = await host.talk("track-app")
    assert int(answer[:4], 16) == len(answer) - 4
    [entry] = decode(answer[4:])[1]
    assert isinstance(entry, bytes)
    assert decode(entry) == {1: [phone.packages.pid_of(NOTES)], 2: [1], 3: [1], 4: [b"arm64"]}


@modes_test
async def test_root_is_for_userdebug_builds_and_ends_with_unroot_or_reboot(host: Host, phone: Phone) -> None:
    assert await host.talk("root:") == b"adbd cannot run as root in production builds\n"
    make_userdebug(phone.props)
    assert await host.talk("root:", ident=2) == b"restarting adbd as root\n"
    host = await again(host, phone)
    assert b"uid=0(root)" in await host.talk("shell:id")
    assert b"databases" in await host.talk(f"shell:ls /data/data/{NOTES}", ident=2)
    assert await host.talk("root:", ident=3) == b"adbd is already running as root\n"
    assert await host.talk("unroot:", ident=4) == b"restarting adbd as non root\n"
    host = await again(host, phone)
    assert b"uid=2000(shell)" in await host.talk("shell:id")
    assert await host.talk("unroot:", ident=2) == b"adbd not running as root\n"
    await host.talk("root:", ident=3)
    host = await again(host, phone)
    phone.reboot()
    assert not is_root(phone)


@modes_test
async def test_tcpip_opens_another_port_and_usb_closes_it(host: Host, phone: Phone) -> None:
    for wrong in ("0", "x", "70000", ""):
        assert await host.talk(f"tcpip:{wrong}") == b"invalid port\n"
    taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    number = taken.sockets[0].getsockname()[1]
    assert b"in use" in await host.talk(f"tcpip:{number}", ident=2)
    taken.close()
    await taken.wait_closed()
    assert await host.talk(f"tcpip:{number}", ident=3) == f"restarting in TCP mode port: {number}\n".encode()
    assert phone.props["service.adb.tcp.port"] == str(number)
    _, writer = await asyncio.open_connection("127.0.0.1", number)
    writer.close()
    host = await again(host, phone)
    assert await host.talk("usb:") == b"restarting in USB mode\n"
    await settle()
    try:
        await asyncio.open_connection("127.0.0.1", number)
    except ConnectionRefusedError:
        return
    raise AssertionError("the port is still open")
