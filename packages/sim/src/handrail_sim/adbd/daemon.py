"""The phone's ADB daemon: what its connections share. The protocol itself is known by `connection`."""

from __future__ import annotations

import asyncio

from handrail_sim.adbd.auth import KeyRing, PublicKey
from handrail_sim.adbd.connection import RETRY_MS, Connection
from handrail_sim.adbd.wire import banner
from handrail_sim.phone import Phone
from handrail_sim.system.releases import SHELL_V2_SINCE, sdk_of

FEATURES = (
    "shell_v2",
    "cmd",
    "stat_v2",
    "ls_v2",
    "fixed_push_mkdir",
    "apex",
    "abb",
    "abb_exec",
    "track_app",
    "fixed_push_symlink_timestamp",
    "sendrecv_v2",
)
"""No compression and no delayed_ack: clients use what is offered, and offers must be kept."""
CONNECTIONS_MAX = 128
UNREAD_MAX = 32 << 20
"""Bytes that all connections of one phone may leave unread by services."""
ORPHANS_MAX = 256
DROP_AFTER_MS = 100.0


class Adbd:
    """One phone's daemon: it holds the connections and what they share."""

    def __init__(self, phone: Phone, *, keys: KeyRing | None = None, host: str = "127.0.0.1") -> None:
        self.phone = phone
        self.keys = keys
        self.host = host
        self.connections: set[Connection] = set()
        self.unread = 0
        self._silent_until_ms = 0.0
        self._tasks: dict[asyncio.Task[None], None] = {}
        self._ports: list[asyncio.Server] = []
        phone.reboot_hooks.append(self.restart)
        phone.faults.listeners.append(self._fault_changed)
        if keys is not None:
            keys.on_ask(self._prompt)
            keys.on_accept(self._accepted)

    def connection(self) -> Connection:
        return Connection(self)

    def restart(self) -> None:
        """The phone reboots: connections drop, and the next ones hear nothing until it is up."""
        self._silent_until_ms = self.phone.clock.monotonic_ms() + DROP_AFTER_MS + self.phone.boot_ms
        self.phone.props.pop("service.adb.root", None)
        self._drop_soon()

    def become_root(self, wanted: bool) -> None:
        self.phone.props["service.adb.root"] = "1" if wanted else "0"
        self._drop_soon()

    async def open_port(self, port: int) -> bool:
        """Listen on one more port, for `adb tcpip`; false if somebody has it."""
        loop = asyncio.get_running_loop()
        try:
            self._ports.append(await loop.create_server(self.connection, self.host, port))
        except OSError:
            return False
        self.phone.props["service.adb.tcp.port"] = str(port)
        self._drop_soon()
        return True

    def close_ports(self) -> None:
        while self._ports:
            self._ports.pop().close()
        self.phone.props.pop("service.adb.tcp.port", None)

    def leave_tcp(self) -> None:
        """For `adb usb`: hosts that came by another port than the first are gone."""
        self.close_ports()
        self._drop_soon()

    def stop(self) -> None:
        self.close_ports()
        self.phone.reboot_hooks.remove(self.restart)
        self.phone.faults.listeners.remove(self._fault_changed)
        for connection in list(self.connections):
            connection.drop()
        for task in list(self._tasks):
            task.cancel()

    def silent_ms(self) -> float:
        """How long a host has to wait for its CNXN; 0 when the phone answers now."""
        if self.phone.faults.active("offline"):
            return RETRY_MS
        return max(0.0, self._silent_until_ms - self.phone.clock.monotonic_ms())

    def mute(self) -> bool:
        return self.phone.faults.active("unauthorized") is not None

    def _prompt(self, key: PublicKey) -> None:
        """Ask on the phone's screen, as Android does."""
        self.phone.debug_prompt(key.fingerprint, lambda yes, always: self._answered(key, yes, always))

    def _accepted(self, keys: list[PublicKey]) -> None:
        """Every host is accepted from now on, without a prompt."""
        for key in keys:
            self.phone.debug_prompt_over(key.fingerprint)

    def _answered(self, key: PublicKey, yes: bool, always: bool) -> None:
        if self.keys is not None:
            if yes:
                self.keys.accept(key, always=always)
            else:
                self.keys.deny(key)

    def _fault_changed(self, name: str, on: bool) -> None:
        if on and name in ("offline", "unauthorized"):
            self._drop_soon()

    def _drop_soon(self) -> None:
        self.keep(asyncio.get_running_loop().create_task(self._drop(list(self.connections))))

    async def _drop(self, connections: list[Connection]) -> None:
        await self.phone.clock.sleep_ms(DROP_AFTER_MS)
        for connection in connections:
            connection.drop()

    def banner(self) -> bytes:
        names = ("ro.product.name", "ro.product.model", "ro.product.device")
        features = FEATURES if sdk_of(self.phone) >= SHELL_V2_SINCE else ()
        return banner("device", {name: self.phone.props.get(name, "") for name in names}, features)

    def join(self, connection: Connection) -> bool:
        """A host connects; False when there are too many."""
        if len(self.connections) >= CONNECTIONS_MAX:
            return False
        self.connections.add(connection)
        if self.keys is not None:
            self.keys.on_accept(connection.keys_accepted)
        return True

    def leave(self, connection: Connection) -> None:
        if connection in self.connections:
            self.connections.remove(connection)
            if self.keys is not None:
                self.keys.off_accept(connection.keys_accepted)

    def reserve(self, size: int) -> bool:
        """Take (or give back) memory for data that services have not read yet."""
        if size > 0 and self.unread + size > UNREAD_MAX:
            return False
        self.unread += size
        return True

    def keep(self, task: asyncio.Task[None]) -> None:
        """A command that reads on after the end of its stream; the oldest make room."""
        if task.done():
            return
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None))
        if len(self._tasks) > ORPHANS_MAX:
            next(iter(self._tasks)).cancel()
