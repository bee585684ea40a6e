"""Commands about the network: ip, ifconfig, ping, netstat."""

from __future__ import annotations

import re

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys.radio import ADDRESS, is_on
from handrail_sim.shell.options import read_getopt

MAC, GATEWAY, BROADCAST = "02:00:00:00:00:00", "192.168.1.1", "192.168.1.255"


def _interfaces(call: Call) -> list[str]:
    return ["lo", "wlan0"] if is_on(call, "wifi_on") else ["lo"]


def _address(number: int, name: str) -> str:
    if name == "lo":
        facts = "<LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000"
        link = "link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00"
        inet = "inet 127.0.0.1/8 scope host lo"
    else:
        facts = "<BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 3000"
        link = f"link/ether {MAC} brd ff:ff:ff:ff:ff:ff"
        inet = f"inet {ADDRESS}/24 brd {BROADCAST} scope global {name}"
    lifetime = "       valid_lft forever preferred_lft forever"
    return f"{number}: {name}: {facts}\n    {link}\n    {inet}\n{lifetime}\n"


_IP_OPTIONS = frozenset({"-f", "-4", "-6", "-o", "-oneline", "-family", "-details", "-d", "-s", "-br"})


async def ip(call: Call) -> int:
    """`ip addr|link|route`."""
    words = [
        arg
        for at, arg in enumerate(call.args)
        if not arg.startswith("-") and call.args[at - 1 : at] != ["-f"]
    ]
    kind = words[0] if words else ""
    wrong = [arg for arg in call.args if arg.startswith("-") and arg not in _IP_OPTIONS]
    if wrong:
        await call.err(f'Option "{wrong[0]}" is unknown, try "ip -help".')
        return 255
    known = _interfaces(call)
    if "addr".startswith(kind) or "address".startswith(kind) or "link".startswith(kind):
        asked = [word for word in words[1:] if word not in {"show", "dev", "list", "ls"}]
        if asked and asked[0] not in known:
            await call.err(f'Device "{asked[0]}" does not exist.')
            return 1
        for number, name in enumerate(known, 1):
            if not asked or name == asked[0]:
                await call.out(_address(number if name == "lo" else 21, name))
        return 0
    if kind and "route".startswith(kind):
        if "wlan0" in known:
            if words[1:2] == ["get"]:
                await call.line(
                    f"{words[2] if words[2:] else GATEWAY} via {GATEWAY} dev wlan0 table wlan0 "
                    f"src {ADDRESS} uid 2000"
                )
            else:
                await call.line(f"192.168.1.0/24 dev wlan0 proto kernel scope link src {ADDRESS} ")
        return 0
    await call.err(f'Object "{kind}" is unknown, try "ip help".')
    return 1


async def ifconfig(call: Call) -> int:
    """`ifconfig [INTERFACE]`."""
    names = [arg for arg in call.args if not arg.startswith("-")]
    known = _interfaces(call)
    if names and names[0] not in known:
        return await call.fail(f"{names[0]}: No such device")
    for name in known[::-1]:
        if names and name != names[0]:
            continue
        link = "Local Loopback" if name == "lo" else f"Ethernet  HWaddr {MAC}  Driver sim_wifi"
        inet = (
            "127.0.0.1  Mask:255.0.0.0 "
            if name == "lo"
            else f"{ADDRESS}  Bcast:{BROADCAST}  Mask:255.255.255.0 "
        )
        flags = (
            "UP LOOPBACK RUNNING  MTU:65536  Metric:1"
            if name == "lo"
            else "UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1"
        )
        await call.out(
            f"{name:<10}Link encap:{link}\n          inet addr:{inet}\n          {flags}\n"
            "          RX packets:1200 errors:0 dropped:0 overruns:0 frame:0 \n"
            "          TX packets:900 errors:0 dropped:0 overruns:0 carrier:0 \n"
            "          collisions:0 txqueuelen:1000 \n          RX bytes:640000 TX bytes:98000 \n\n"
        )
    return 0


async def ping(call: Call) -> int:
    """Only this phone and its gateway answer: there is no net behind it."""
    options = read_getopt(call.args, "46bnqc:i:I:s:t:w:W:", code=2)
    if not options.rest:
        await call.err("ping: usage error: Destination address required")
        return 2
    host = options.rest[0]
    count = min(options.number("c", 4), 100)
    literal = re.fullmatch(r"\d+\.\d+\.\d+\.\d+", host)
    near = host in {"127.0.0.1", "localhost", ADDRESS} or (host == GATEWAY and is_on(call, "wifi_on"))
    if not literal and not near:
        return await call.fail(f"unknown host {host}", 2)
    await call.line(f"PING {host} ({host}) 56(84) bytes of data.")
    for number in range(1, count + 1 if near else 1):
        await call.line(f"64 bytes from {host}: icmp_seq={number} ttl=64 time=0.50 ms")
    got, loss = (count, 0) if near else (0, 100)
    await call.line(
        f"\n--- {host} ping statistics ---\n{count} packets transmitted, {got} received, {loss}% "
        "packet loss, time 0ms"
    )
    return 0 if near else 1


async def netstat(call: Call) -> int:
    """The ports that something in the phone serves."""
    flags = call.options.flags
    listening = bool(flags & {"a", "l"})
    kinds = "only servers" if "l" in flags else "servers and established" if "a" in flags else "w/o servers"
    await call.line(
        f"Active Internet connections ({kinds})\nProto Recv-Q Send-Q Local Address           "
        "Foreign Address         State"
    )
    for name in call.phone.ports:
        kind, _, port = name.partition(":")
        if kind == "tcp" and listening and "u" not in flags:
            await call.line(f"tcp        0      0 {'127.0.0.1:' + port:<23} {'0.0.0.0:*':<23} LISTEN")
    return 0


FAMILY: dict[str, Command] = {"ip": ip, "ifconfig": ifconfig, "ping": ping, "netstat": netstat}
