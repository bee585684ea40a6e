"""Starting wrongly fails before anything is served, and where the pages of a server live."""

from __future__ import annotations

import re
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

from handrail.bind import check_bind, listen, public_host, separate_page_host
from handrail.cli.serve import serve
from handrail.errors import InvalidAction
from handrail.web_server.auth import served_hosts
from tests.unit.web_server.push_service import certificate


def _refusal(tmp_path: Path, *options: str) -> InvalidAction:
    home = {"HANDRAIL_HOME": str(tmp_path / "home"), "HANDRAIL_ADB": str(tmp_path / "no-adb")}
    done = CliRunner().invoke(serve, list(options), env=home)
    assert isinstance(done.exception, InvalidAction), done
    assert not (tmp_path / "home").exists()
    return done.exception


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "[2001:db8::1]"])
def test_a_public_address_without_a_token_refuses_to_start(tmp_path: Path, host: str) -> None:
    error = _refusal(tmp_path, "--host", host, "--port", "0")
    assert (error.code, error.details["path"], error.exits.exit_code) == ("INVALID_ACTION", "token", 2)
    assert host in error.message
    assert "--token" in error.hint


def test_a_short_token_refuses_to_start(tmp_path: Path) -> None:
    assert "15 characters" in _refusal(tmp_path, "--token", "x" * 15).message


def test_a_used_port_says_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        error = _refusal(tmp_path, "--port", str(taken.getsockname()[1]))
    assert "in use" in error.message
    assert "--port" in error.hint


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "[2001:db8::1]"])
def test_plain_http_off_this_machine_refuses_to_start_and_says_what_to_do(tmp_path: Path, host: str) -> None:
    error = _refusal(tmp_path, "--host", host, "--port", "0", "--token", "x" * 16)
    assert (error.code, error.details["path"]) == ("INVALID_ACTION", "cert")
    assert "plain HTTP" in error.message
    assert all(word in error.hint for word in ("--cert", "--key", "tailscale", "ssh -L", "--public"))


def test_a_certificate_needs_its_key_and_has_to_be_one(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path, "desk.example.org")
    public = ("--host", "0.0.0.0", "--port", "0", "--token", "x" * 16)
    assert _refusal(tmp_path, *public, "--cert", str(cert)).details["path"] == "key"
    assert _refusal(tmp_path, *public, "--key", str(key)).details["path"] == "cert"
    for bad in ((key, cert), (cert, cert), (tmp_path / "none", key), (Path(__file__), key)):
        error = _refusal(tmp_path, *public, "--cert", str(bad[0]), "--key", str(bad[1]))
        assert (error.details["path"], "PEM" in error.hint) == ("cert", True)


@pytest.mark.parametrize(
    "address", ["http://desk.example.org", "desk.example.org", "https://a@b", "https://", "https://x/y", "https://x?y"]
)  # fmt: skip
def test_a_tunnel_is_an_https_address(tmp_path: Path, address: str) -> None:
    assert _refusal(tmp_path, "--public", address).details["path"] == "public"


def test_where_other_devices_find_the_desk(tmp_path: Path) -> None:
    cert, _ = certificate(tmp_path, "*.example.org", "localhost", "desk.example.org", "192.168.1.5")
    assert public_host(None, "0.0.0.0", 8420, cert) == "desk.example.org:8420"
    assert public_host(None, "0.0.0.0", 443, cert) == "desk.example.org"
    assert public_host(None, "192.168.1.5", 8420, cert) == "192.168.1.5:8420"
    assert public_host("https://desk.ts.net/", "localhost", 8420, None) == "desk.ts.net"
    assert public_host(None, "localhost", 8420, None) is None


def test_loopback_and_a_long_token_are_fine() -> None:
    for host in ("127.0.0.1", "localhost", "::1", "[::1]", "127.8.8.8"):
        check_bind(host, None)
        assert served_hosts(host, 80) is not None
    check_bind("0.0.0.0", "x" * 16, (Path("cert.pem"), Path("key.pem")))
    assert served_hosts("0.0.0.0", 80) is None


def test_each_process_has_its_pages_under_a_new_name_and_both_loopbacks() -> None:
    names = set()
    for _ in range(2):
        bound = listen("localhost", 0)
        port = bound.getsockname()[1]
        name, sockets = separate_page_host("localhost", bound)
        with ExitStack() as closing:
            for one in sockets:
                closing.enter_context(one)
            assert re.fullmatch(rf"desk-[0-9a-f]{{16}}\.localhost:{port}", name or "")
            names.add(name.partition(":")[0] if name else "")
            with pytest.raises(OSError, match="in use"):
                socket.create_server(("::1", port), family=socket.AF_INET6)
    assert len(names) == 2


def test_pages_live_at_the_number_where_it_was_asked_for_or_the_other_loopback_is_taken() -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as taken:
        port = taken.getsockname()[1]
        with listen("localhost", port) as bound:
            assert separate_page_host("localhost", bound) == (None, [bound])
            assert separate_page_host("127.0.0.1", bound) == (None, [bound])
