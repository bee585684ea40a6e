"""Keys of this host: made, read, and understood by the stock adb and by the phone."""

from __future__ import annotations

import secrets
import stat
import subprocess
from pathlib import Path

import pytest

from handrail.adb.keys import PrivateKey, generate, load_keys, public_key, read_key, sign
from handrail.adb.server import find_adb
from handrail.errors import AdbConnectionError
from handrail.sim.adbd.auth import decode_key, verify


@pytest.fixture(scope="module")
def key() -> PrivateKey:
    return generate("somebody@here")


def test_the_phone_verifies_what_we_sign(key: PrivateKey) -> None:
    token = secrets.token_bytes(20)
    public = decode_key(public_key(key))
    assert public is not None
    assert verify(public, token, sign(key, token))
    assert not verify(public, secrets.token_bytes(20), sign(key, token))
    assert (public.modulus, public.exponent, public.name) == (key.modulus, 65537, "somebody@here")


def test_a_key_is_made_where_there_is_none_and_found_again(tmp_path: Path) -> None:
    env = {"ANDROID_USER_HOME": str(tmp_path / "android"), "HOME": str(tmp_path)}
    made = load_keys(env)
    file = tmp_path / "android" / "adbkey"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert load_keys(env) == made
    assert (tmp_path / "android" / "adbkey.pub").read_bytes() == public_key(made[0]).rstrip(b"\0")


def test_handrails_own_folder_serves_where_adbs_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    blocked = str(tmp_path / "file")
    env = {"ANDROID_USER_HOME": blocked, "HOME": blocked, "HANDRAIL_HOME": str(tmp_path / "own")}
    assert load_keys(env)
    assert (tmp_path / "own" / "adbkey").is_file()


def test_nowhere_to_write_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    blocked = str(tmp_path / "file")
    with pytest.raises(AdbConnectionError, match="no adb key"):
        load_keys({"ANDROID_USER_HOME": blocked, "HANDRAIL_HOME": blocked, "HOME": blocked})


def test_the_stock_adbs_key_is_read_and_ours_is_read_by_it(tmp_path: Path) -> None:
    adb = find_adb()
    if adb is None:
        pytest.skip("no adb binary")
    theirs = tmp_path / "theirs"
    subprocess.run([adb, "keygen", theirs], check=True, capture_output=True)
    key = read_key(theirs)
    pub = theirs.with_name("theirs.pub").read_bytes()
    assert public_key(key).split(b" ")[0] == pub.split(b" ")[0].strip()
    ours = load_keys({"ANDROID_USER_HOME": str(tmp_path), "HOME": str(tmp_path)})[0]
    printed = subprocess.run([adb, "pubkey", tmp_path / "adbkey"], check=True, capture_output=True).stdout
    assert printed.split(b" ")[0].strip() == public_key(ours).split(b" ")[0]


@pytest.mark.parametrize("damage", ["", "-----BEGIN PRIVATE KEY-----\nMIIE\n", "héllo", "cut"])
def test_a_damaged_key_is_named_with_what_to_do(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "adbkey"
    load_keys({"ANDROID_USER_HOME": str(tmp_path), "HOME": str(tmp_path)})
    path.write_text("\n".join(path.read_text().splitlines()[:9]) if damage == "cut" else damage)
    with pytest.raises(AdbConnectionError, match="adbkey can't be used") as caught:
        read_key(path)
    assert "Move the file away" in caught.value.hint


def test_a_key_does_not_show_its_secret(key: PrivateKey) -> None:
    assert str(key.secret) not in repr(key)
    assert repr(key) == "PrivateKey('somebody@here')"
