"""Where a frame's page is, in whatever way its address is written."""

from __future__ import annotations

import asyncio
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.desk.content import check_page
from handrail.errors import InvalidAction
from handrail.hosts import host_of, why_private
from handrail.web_server import pages
from handrail.web_server.pages import why_ask_before_frame
from tests.cases import each

PRIVATE = [
    "127.0.0.1", "127.255.255.254", "127.1", "2130706433", "0x7f000001", "0x7F.1", "0177.0.0.1",
    "017700000001", "127.0.0.1.", "127%2e0%2E0.1", "%31%32%37.0.0.1", "\uff11\uff12\uff17.0.0.1",
    "127\u30020\u30020\u30021", "\u2460\u2461\u2466.0.0.1", "0", "0.0.0.0", "10.1.2.3", "172.16.0.1",
    "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.64.0.1", "198.18.0.1", "224.0.0.1", "240.0.0.1",
    "255.255.255.255", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:a00:1]",
    "[::127.0.0.1]", "[fe80::1]", "[fc00::1]", "[fd12:3456::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
    "[ff02::1]", "[::ffff:0:127.0.0.1]", "[2001:db8::1]", "localhost", "LOCALHOST", "localhost.",
    "a.b.localhost", "\uff4cocalhost", "loc\u00adalhost", "router", "nas.local", "git.corp", "x.internal",
    "printer.lan", "1.0.0.127.in-addr.arpa",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "134744072", "1.1.1.0x1", "172.32.0.1", "[2606:4700::1111]", "[64:ff9b::808:808]"]
NONE = [
    "256.1.1.1", "1.2.3.4.5", "08.1.1.1", "foo.0x7f", "1..2", "[::1%25lo]", "[1::2::3]", "4294967296", "%00",
    "a%2fb",
]  # fmt: skip


@each("host", PRIVATE)
def test_a_page_of_this_machine_or_a_private_network_is_known_in_every_spelling(host: str) -> None:
    read = host_of(f"http://{host}:8080/x")
    assert read is not None
    assert why_private(read) is not None
    assert asyncio.run(why_ask_before_frame(f"https://{host}/")) is not None


@each("host", PUBLIC)
def test_a_number_of_the_open_internet_needs_no_yes(host: str) -> None:
    assert asyncio.run(why_ask_before_frame(f"http://{host}/")) is None


@each("host", NONE)
def test_what_no_browser_would_dial_is_no_host_and_is_asked_about(host: str) -> None:
    assert host_of(f"http://{host}/") is None
    assert asyncio.run(why_ask_before_frame(f"http://{host}/")) == "This is not the address of a page."


def _spelt(number: int, bases: list[int], parts: int) -> str:
    """The same address in one to four numbers, each in its own base."""
    firsts = [(number >> (8 * (3 - at))) & 255 for at in range(parts - 1)]
    last = number & (256 ** (5 - parts) - 1)
    forms = {8: "0{:o}", 10: "{}", 16: "0x{:X}"}
    return ".".join(forms[base].format(value) for base, value in zip(bases, [*firsts, last], strict=False))


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.sampled_from([8, 10, 16]), min_size=4, max_size=4),
    st.integers(1, 4),
)
def test_every_spelling_of_a_number_is_that_number(number: int, bases: list[int], parts: int) -> None:
    assert host_of(f"http://{_spelt(number, bases, parts)}/") == str(IPv4Address(number))


@given(st.integers(0, 2**32 - 1), st.sampled_from(["::ffff:0:0", "64:ff9b::", "::ffff:0:0:0"]))
def test_an_address_inside_another_one_counts_for_itself(number: int, around: str) -> None:
    outer = IPv6Address(int(IPv6Address(around)) + number)
    assert (why_private(str(outer)) is None) == (why_private(str(IPv4Address(number))) is None)


@each("host", ["0x7f.1", "2130706433", "[::1]", "LOCALHOST.", "127.0.0.1"])
def test_the_desk_itself_is_known_in_every_spelling(host: str) -> None:
    own = frozenset({"127.0.0.1:8420", "localhost:8420", "[::1]:8420"})
    with pytest.raises(InvalidAction, match="the desk itself"):
        check_page(f"http://{host}:8420/", "content.data", own)
    check_page(f"http://{host}:8421/", "content.data", own)


@pytest.mark.parametrize(
    ("numbers", "asks"), [(["10.0.0.1"], True), (["8.8.8.8", "::1"], True), (["8.8.8.8"], False), ([], True)]
)
async def test_a_name_is_asked_about_if_it_leads_home_or_nowhere(
    monkeypatch: pytest.MonkeyPatch, numbers: list[str], asks: bool
) -> None:
    async def answer(*_: object, **__: object) -> list[tuple[object, ...]]:
        if not numbers:
            raise OSError("no such name")
        return [(0, 0, 0, "", (number, 0)) for number in numbers]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", answer)
    assert (await why_ask_before_frame("http://pages.example.org/") is not None) is asks


async def test_a_name_that_nobody_answers_for_is_asked_about_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(pages, "LOOKUP_S", 0.01)
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", never)
    assert "could not be found out" in str(await why_ask_before_frame("http://pages.example.org/"))


def test_this_machines_own_name_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "Desk.Example.ORG")
    assert (
        asyncio.run(why_ask_before_frame("http://desk.example.org/")) == "desk.example.org is this machine."
    )
