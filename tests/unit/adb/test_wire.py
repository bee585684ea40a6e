"""Bytes as the public protocol description writes them, so that both ends stay honest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.adb.wire import (
    MAX_PAYLOAD,
    MAX_PAYLOAD_V1,
    SYNC_DATA_MAX,
    SYNC_HEADER,
    SYNC_PATH_MAX,
    SYNC_RECV_V2,
    SYNC_SEND_V2,
    SYNC_STAT,
    SYNC_STAT_V2,
    TOKEN_SIZE,
    VERSION,
    Auth,
    BadPacket,
    Banner,
    Command,
    Packet,
    Parser,
    ShellKind,
    ShellParser,
    checksum,
    decode_banner,
    encode,
    encode_banner,
    encode_shell,
)

WIDTHS = (4, 8, 8, 4, 4, 4, 4, 8, 8, 8, 8)
"""Bytes of errno, dev, ino, mode, nlink, uid, gid, size, atime, mtime and ctime."""
OPEN_BYTES = bytes.fromhex("4f50454e 01000000 00000000 06000000 00000000 b0afbab1") + b"sync:\0"


def test_commands_are_their_letters_in_little_endian_order() -> None:
    for command in Command:
        assert int(command).to_bytes(4, "little").decode() == command.name


def test_numbers_are_those_of_the_protocol() -> None:
    """Both ends use these, so that no talk between them would notice a wrong one."""
    assert [kind.name for kind in sorted(Auth)] == ["TOKEN", "SIGNATURE", "PUBLIC_KEY"]
    assert [int(kind) for kind in sorted(Auth)] == [1, 2, 3]
    names = ["STDIN", "STDOUT", "STDERR", "EXIT", "CLOSE_STDIN", "WINDOW_SIZE"]
    assert [ShellKind[name] for name in names] == [0, 1, 2, 3, 4, 5]
    assert VERSION == 0x01000001
    assert (MAX_PAYLOAD, MAX_PAYLOAD_V1, TOKEN_SIZE) == (1_048_576, 4_096, 20)
    assert (SYNC_DATA_MAX, SYNC_PATH_MAX) == (65_536, 1_024)


def test_an_open_has_the_bytes_of_the_protocol() -> None:
    assert encode(Packet(Command.OPEN, 1, 0, b"sync:\0")) == OPEN_BYTES


def test_a_connect_has_the_bytes_of_the_protocol() -> None:
    expected = bytes.fromhex("434e584e 01000001 00001000 06000000 32020000 bcb1a7b1") + b"host::"
    assert encode(Packet(Command.CNXN, VERSION, MAX_PAYLOAD, b"host::"), summed=True) == expected


def test_the_checksum_is_the_sum_of_all_bytes() -> None:
    assert checksum(b"\x01\x02\xff") == 0x102
    assert encode(Packet(Command.WRTE, 1, 2, b"\x01\x02\xff"), summed=True)[16:20] == b"\x02\x01\0\0"
    assert encode(Packet(Command.WRTE, 1, 2, b"\x01\x02\xff"))[16:20] == b"\0\0\0\0"


def test_a_packet_arrives_however_the_socket_cuts_it() -> None:
    parser = Parser()
    found = [packet for byte in OPEN_BYTES for packet in parser.feed(bytes([byte]))]
    assert found == [Packet(Command.OPEN, 1, 0, b"sync:\0")]


@given(
    packets=st.lists(
        st.tuples(
            st.sampled_from(list(Command)),
            st.integers(0, 2**32 - 1),
            st.integers(0, 2**32 - 1),
            st.binary(max_size=60),
        ),
        max_size=5,
    ),
    cuts=st.lists(st.integers(1, 40), min_size=1),
    summed=st.booleans(),
)
def test_what_is_encoded_is_parsed_again(
    packets: list[tuple[Command, int, int, bytes]], cuts: list[int], summed: bool
) -> None:
    sent = [Packet(*packet) for packet in packets]
    data = b"".join(encode(packet, summed=summed) for packet in sent)
    parser = Parser(summed=summed)
    got: list[Packet] = []
    while data:
        for cut in cuts:
            got += parser.feed(data[:cut])
            data = data[cut:]
    assert got == sent


def test_a_wrong_magic_is_refused() -> None:
    with pytest.raises(BadPacket, match="magic"):
        list(Parser().feed(OPEN_BYTES[:20] + b"\0\0\0\0"))


def test_a_hundred_megabytes_are_refused_when_they_are_announced() -> None:
    header = encode(Packet(Command.WRTE, 1, 1))
    with pytest.raises(BadPacket, match="100000000"):
        list(Parser(MAX_PAYLOAD).feed(header[:12] + (100_000_000).to_bytes(4, "little") + header[16:]))


def test_a_payload_of_what_was_agreed_is_taken_and_one_byte_more_refused() -> None:
    longest = Packet(Command.WRTE, 1, 1, bytes(4096))
    assert list(Parser().feed(encode(longest))) == [longest]
    with pytest.raises(BadPacket) as caught:
        list(Parser().feed(encode(Packet(Command.WRTE, 1, 1, bytes(4097)))))
    assert str(caught.value) == "a payload of 4097 bytes was announced, 4096 are agreed"


def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(BadPacket) as caught:
        list(Parser().feed(OPEN_BYTES[:20] + b"\0\0\0\0"))
    assert str(caught.value) == "magic 00000000 does not fit command 4e45504f"
    with pytest.raises(BadPacket) as caught:
        list(Parser(summed=True).feed(encode(Packet(Command.WRTE, 1, 1, b"x"))))
    assert str(caught.value) == "checksum 00000000 does not fit the payload"


def test_the_checksum_of_a_connect_is_not_looked_at() -> None:
    hello = Packet(Command.CNXN, VERSION, MAX_PAYLOAD, b"device::")
    assert list(Parser(summed=True).feed(encode(hello))) == [hello]


def test_a_wrong_checksum_counts_only_for_peers_that_send_one() -> None:
    good = encode(Packet(Command.WRTE, 1, 1, b"x"), summed=True)
    bad = good[:16] + b"\1\0\0\0" + good[20:]
    assert list(Parser().feed(bad))
    with pytest.raises(BadPacket, match="checksum"):
        list(Parser(summed=True).feed(bad))


def test_a_device_banner_says_product_and_features() -> None:
    banner = Banner("device", {"ro.product.name": "n", "ro.product.model": "m"}, ("shell_v2", "cmd"))
    text = b"device::ro.product.name=n;ro.product.model=m;features=shell_v2,cmd"
    assert encode_banner(banner) == text
    assert decode_banner(text) == banner


def test_an_old_hosts_banner_has_no_features() -> None:
    assert decode_banner(b"host::\0") == Banner("host", {}, ())
    assert decode_banner(b"host") == Banner("host", {}, ())
    assert decode_banner(b"device:serial:a=b;;c;features=,x,\0\0") == Banner(
        "device", {"a": "b", "c": ""}, ("x",)
    )
    assert decode_banner(b"\xff::").kind == "\N{REPLACEMENT CHARACTER}"


def test_shell_packets_have_the_bytes_of_the_protocol() -> None:
    assert encode_shell(ShellKind.STDOUT, b"hi\n") == b"\x01\x03\0\0\0hi\n"
    assert encode_shell(ShellKind.EXIT, b"\x01") == b"\x03\x01\0\0\0\x01"


def test_shell_packets_may_be_split_and_joined() -> None:
    data = encode_shell(ShellKind.STDIN, b"one") + encode_shell(ShellKind.CLOSE_STDIN, b"")
    whole = ShellParser()
    assert list(whole.feed(data)) == [(ShellKind.STDIN, b"one"), (ShellKind.CLOSE_STDIN, b"")]
    parser = ShellParser()
    parts = [part for byte in data for part in parser.feed(bytes([byte]))]
    assert b"".join(part for kind, part in parts if kind == ShellKind.STDIN) == b"one"
    assert parts[-1] == (ShellKind.CLOSE_STDIN, b"")


def test_a_shell_packet_that_announces_gigabytes_is_handed_on_as_it_comes() -> None:
    parser = ShellParser()
    assert list(parser.feed(b"\0\xff\xff\xff\xff" + b"x" * 10)) == [(ShellKind.STDIN, b"x" * 10)]
    assert list(parser.feed(b"y")) == [(ShellKind.STDIN, b"y")]


def test_stat_records_have_the_sizes_of_the_protocol() -> None:
    assert SYNC_STAT.size == 16
    assert SYNC_STAT_V2.size == 72
    assert SYNC_HEADER.pack(b"DATA", 258) == b"DATA\x02\x01\0\0"
    assert SYNC_SEND_V2.pack(b"SND2", 0o644, 1) == b"SND2\xa4\x01\0\0\x01\0\0\0"
    assert SYNC_RECV_V2.pack(b"RCV2", 1) == b"RCV2\x01\0\0\0"
    assert SYNC_STAT.unpack(b"STAT" + bytes.fromhex("01000000 02000000 03000000")) == (b"STAT", 1, 2, 3)
    values = [number.to_bytes(width, "little") for number, width in enumerate(WIDTHS, 1)]
    assert SYNC_STAT_V2.unpack(b"STA2" + b"".join(values)) == (b"STA2", *range(1, 12))
