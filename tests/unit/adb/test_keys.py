"""Keys of this host: made, read, and understood by the stock adb and by the phone."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate_curve
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as generate_rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from handrail.adb.keys import PrivateKey, generate, load_or_make_keys, make_key, read_key
from handrail.adb.server import find_adb
from handrail.errors import AdbConnectionError
from handrail_sim.adbd.auth import decode_key, verify


@pytest.fixture(scope="module")
def key() -> PrivateKey:
    return generate("somebody@here")


def test_the_phone_verifies_what_we_sign(key: PrivateKey) -> None:
    token = secrets.token_bytes(20)
    public = decode_key(key.public())
    assert public is not None
    assert verify(public, token, key.sign(token))
    assert not verify(public, secrets.token_bytes(20), key.sign(token))
    assert (public.modulus, public.exponent, public.name) == (
        key.rsa.public_key().public_numbers().n,
        65537,
        "somebody@here",
    )


def test_handrails_own_folder_serves_where_adbs_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    blocked = str(tmp_path / "file")
    env = {"ANDROID_USER_HOME": blocked, "HOME": blocked, "HANDRAIL_HOME": str(tmp_path / "own")}
    assert load_or_make_keys(env)
    assert (tmp_path / "own" / "adbkey").is_file()


def test_nowhere_to_write_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    blocked = str(tmp_path / "file")
    with pytest.raises(AdbConnectionError, match="no adb key"):
        load_or_make_keys({"ANDROID_USER_HOME": blocked, "HANDRAIL_HOME": blocked, "HOME": blocked})


def test_the_stock_adbs_key_is_read_and_ours_is_read_by_it(tmp_path: Path) -> None:
    adb = find_adb()
    if adb is None:
        pytest.skip("no adb binary")
    theirs = tmp_path / "theirs"
    subprocess.run([adb, "keygen", theirs], check=True, capture_output=True)
    key = read_key(theirs)
    pub = theirs.with_name("theirs.pub").read_bytes()
    assert key.public().split(b" ")[0] == pub.split(b" ")[0].strip()
    ours = load_or_make_keys({"ANDROID_USER_HOME": str(tmp_path), "HOME": str(tmp_path)})[0]
    printed = subprocess.run([adb, "pubkey", tmp_path / "adbkey"], check=True, capture_output=True).stdout
    assert printed.split(b" ")[0].strip() == ours.public().split(b" ")[0]


def pem(key: PrivateKeyTypes, form: PrivateFormat = PrivateFormat.PKCS8, password: bytes = b"") -> bytes:
    lock = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, form, lock)


def test_an_old_file_is_read_and_named_by_its_public_half(tmp_path: Path, key: PrivateKey) -> None:
    path = tmp_path / "adbkey"
    path.write_bytes(pem(key.rsa, PrivateFormat.TraditionalOpenSSL))
    path.with_name("adbkey.pub").write_bytes(b"QAAA me@\xff home\n")
    read = read_key(path)
    assert read.name == "me@\N{REPLACEMENT CHARACTER} home"
    assert read.public().split(b" ")[0] == key.public().split(b" ")[0]


def test_without_a_public_half_the_key_has_the_name_of_who_works_here(
    tmp_path: Path, key: PrivateKey
) -> None:
    path = tmp_path / "adbkey"
    path.write_bytes(pem(key.rsa))
    assert "@" in read_key(path).name


@pytest.mark.parametrize("kind", ["short", "curve", "locked"])
def test_a_key_that_adb_can_not_use_is_refused(tmp_path: Path, key: PrivateKey, kind: str) -> None:
    keys = {
        "short": lambda: pem(generate_rsa(65537, 1024)),
        "curve": lambda: pem(generate_curve(SECP256R1())),
        "locked": lambda: pem(key.rsa, password=b"secret"),
    }
    path = tmp_path / "adbkey"
    path.write_bytes(keys[kind]())
    with pytest.raises(AdbConnectionError, match=r"adbkey can't be used: .") as caught:
        read_key(path)
    assert caught.value.details["delivery"] == "not_delivered"


def test_keys_of_others_come_after_adbs_own(tmp_path: Path, key: PrivateKey) -> None:
    folder = tmp_path / "android"
    env = {"ANDROID_USER_HOME": str(folder), "HOME": str(tmp_path)}
    own = load_or_make_keys(env)[0]
    given, missing = tmp_path / "given", tmp_path / "missing"
    given.write_bytes(pem(key.rsa))
    env["ADB_VENDOR_KEYS"] = os.pathsep.join([str(missing), str(given)])
    found = [each.rsa.public_key() for each in load_or_make_keys(env)]
    assert found == [own.rsa.public_key(), key.rsa.public_key()]


def test_a_key_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "adbkey"
    make_key(path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        make_key(path)
    assert path.read_bytes() == before


def test_links_that_find_no_key_at_the_same_time_use_the_same_one(tmp_path: Path) -> None:
    env = {"ANDROID_USER_HOME": str(tmp_path / "android"), "HOME": str(tmp_path)}
    with ThreadPoolExecutor(4) as threads:
        found = [keys[0] for keys in threads.map(lambda _: load_or_make_keys(env), range(4))]
    assert len({key.rsa.public_key().public_numbers().n for key in found}) == 1
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["adbkey", "adbkey.pub", "android"]


def test_a_token_of_another_size_is_not_signed(key: PrivateKey) -> None:
    for size in (0, 19, 21, 300):
        with pytest.raises(ValueError, match=r"."):
            key.sign(bytes(size))


def test_a_key_without_a_name_is_handrails(key: PrivateKey) -> None:
    assert PrivateKey(key.rsa).public().endswith(b" handrail\0")


def test_a_key_does_not_show_its_secret(key: PrivateKey) -> None:
    assert repr(key) == "PrivateKey('somebody@here')"


def test_the_library_is_not_loaded_before_a_device_asks_for_a_key() -> None:
    script = "import sys, handrail.adb.device, handrail.adb.direct; print('cryptography' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"
