"""Rules of a home that programs run under: what can't be read or trusted allows nothing, changes count."""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from handrail.config import Config
from handrail.errors import PolicyUnusable
from handrail.safety.permissions import Permissions
from handrail.safety.policy_file import REST_MS, LivePolicy
from handrail_sim.clock import ManualClock
from tests.unit.safety.policy_subjects import button, subject

DENY = "[[rule]]\nlabel = 'Save'\nverdict = 'deny'\n"
MILDER = "# milder\n"
SAVE = subject("tap", button("Save"))


class Home:
    """A home with a policy, and a clock by hand."""

    def __init__(self, folder: Path, text: str | None = DENY) -> None:
        self.home = folder / "home"
        self.path = self.home / "config" / "policy.toml"
        self.path.parent.mkdir(mode=0o700, parents=True)
        self.home.chmod(0o700)
        if text is not None:
            self.path.write_text(text)
        self.clock = ManualClock()
        self.live = self.open()

    def open(self) -> LivePolicy:
        return LivePolicy(self.home, self.path, self.clock)

    @property
    def verdict(self) -> str:
        return self.live.current().decide(SAVE).kind

    def passes(self, ms: float) -> None:
        asyncio.run(self.clock.advance(ms))


def dangling(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def loop(path: Path) -> None:
    path.symlink_to(path)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def pipe_behind_a_link(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to(path.with_name("pipe"))


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's path is short
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def terminal(path: Path) -> None:
    path.symlink_to("/dev/tty")


def not_utf8(path: Path) -> None:
    path.write_bytes(b"# \xff\n")


def huge(path: Path) -> None:
    path.write_bytes(b"#" * 1_000_001)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def half(path: Path) -> None:
    path.write_text(DENY[:-5])


def unknown_key(path: Path) -> None:
    path.write_text("[[rule]]\nlable = 'Save'\nverdict = 'deny'\n")


def open_to_all(path: Path) -> None:
    path.write_text("")
    path.chmod(0o666)


def open_to_the_group(path: Path) -> None:
    path.write_text("")
    path.chmod(0o660)


def in_a_folder_of_others(path: Path) -> None:
    path.write_text("")
    path.parent.chmod(0o770)


def behind_a_folder_of_others(path: Path) -> None:
    folder = path.parents[2] / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    (folder / "policy.toml").write_text("")
    path.symlink_to(folder / "policy.toml")


def in_a_home_of_others(path: Path) -> None:
    path.write_text("")
    path.parents[1].chmod(0o777)


def in_a_folder_that_dangles(path: Path) -> None:
    path.parent.rmdir()
    path.parent.symlink_to(path.parent.with_name("nowhere"))


def in_a_folder_that_is_a_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("")


UNUSABLE: list[Callable[[Path], None]] = [
    Path.mkdir,
    dangling,
    loop,
    pipe,
    pipe_behind_a_link,
    a_socket,
    device,
    terminal,
    not_utf8,
    huge,
    sparse,
    half,
    unknown_key,
    open_to_all,
    open_to_the_group,
    in_a_folder_of_others,
    behind_a_folder_of_others,
    in_a_home_of_others,
    in_a_folder_that_dangles,
    in_a_folder_that_is_a_file,
]


@pytest.mark.parametrize("make", UNUSABLE, ids=lambda make: make.__name__)
@pytest.mark.parametrize("was_there", [True, False])
def test_a_policy_that_can_not_be_read_or_trusted_allows_nothing(
    tmp_path: Path, make: Callable[[Path], None], was_there: bool
) -> None:
    """Also where it became so under a running server. Today a dangling link means: no rules."""
    at = Home(tmp_path, DENY if was_there else None)
    at.path.unlink(missing_ok=True)
    make(at.path)
    for attempt in (at.live.current, at.open):
        with pytest.raises(PolicyUnusable) as caught:
            attempt()
        assert caught.value.code == "POLICY_UNUSABLE"
        assert caught.value.hint


@pytest.mark.parametrize("make", UNUSABLE[:11], ids=lambda make: make.__name__)
def test_remembered_answers_that_can_not_be_read_allow_nothing(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "config" / "permissions.json"
    path.parent.mkdir(mode=0o700)
    if make is huge:
        path.write_bytes(b" " * 4_000_001)
    else:
        make(path)
    kept = Permissions(path)
    for attempt in (lambda: kept.lookup("shell", "ls"), lambda: kept.remember("shell", "ls", allow=True)):
        with pytest.raises(PolicyUnusable):
            attempt()


@contextmanager
def as_nobody() -> Iterator[None]:
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_a_policy_that_may_not_be_read_and_one_of_another_user_allow_nothing(tmp_path: Path) -> None:
    at = Home(tmp_path)
    at.path.chmod(0o600)
    for folder in (at.path.parent, at.home, tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    with as_nobody(), pytest.raises(PolicyUnusable, match="Permission denied"):
        at.open()
    os.chown(at.path, 1234, -1)
    with pytest.raises(PolicyUnusable, match="belongs to another user") as caught:
        at.open()
    assert f"chown 0 {at.path}" in caught.value.hint


def test_no_file_means_the_defaults(tmp_path: Path) -> None:
    at = Home(tmp_path, None)
    assert at.verdict == "allow"
    at.path.parent.rmdir()
    assert at.open().current().decide(SAVE).policy == "defaults"


@pytest.mark.parametrize("has_folder", [True, False])
def test_a_first_policy_counts_at_once_although_its_absence_was_remembered(
    tmp_path: Path, has_folder: bool
) -> None:
    at = Home(tmp_path, None)
    if not has_folder:
        at.path.parent.rmdir()
    for folder in filter(Path.exists, (at.home, at.path.parent)):
        os.utime(folder, (1, 1))
    assert at.verdict == "allow"
    at.path.parent.mkdir(mode=0o700, exist_ok=True)
    at.path.write_text(DENY)
    assert at.verdict == "deny"


def test_a_link_to_a_good_file_is_read(tmp_path: Path) -> None:
    at = Home(tmp_path)
    at.path.rename(tmp_path / "mine.toml")
    at.path.symlink_to(tmp_path / "mine.toml")
    assert at.verdict == "deny"


def test_a_stricter_rule_counts_at_once_and_a_milder_one_when_the_file_has_rested(tmp_path: Path) -> None:
    at = Home(tmp_path, "")
    assert at.verdict == "allow"
    at.path.write_text(DENY)
    assert at.verdict == "deny"
    at.passes(REST_MS)
    at.path.write_text("")
    assert at.verdict == "deny"
    at.passes(REST_MS - 1)
    assert at.verdict == "deny"
    at.passes(1)
    assert at.verdict == "allow"
    assert REST_MS < 1_000


def test_a_file_that_is_emptied_before_it_is_filled_never_allows(tmp_path: Path) -> None:
    at = Home(tmp_path)
    for text in ("", DENY, DENY + "# more\n", ""):
        at.path.write_text(text)
        at.passes(REST_MS / 2)
        assert at.verdict == "deny"


def test_a_change_of_a_byte_is_seen_whatever_the_files_times_say(tmp_path: Path) -> None:
    at = Home(tmp_path, DENY.replace("Save", "Sava"))
    assert at.verdict == "allow"
    facts = at.path.stat()
    at.path.write_text(DENY)
    os.utime(at.path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert at.verdict == "deny"


def test_a_policy_that_has_gone_allows_nothing_until_it_is_back(tmp_path: Path) -> None:
    at = Home(tmp_path)
    at.path.unlink()
    with pytest.raises(PolicyUnusable, match="was deleted"):
        at.live.current()
    at.path.write_text("")
    at.passes(REST_MS)
    at.live.current()
    at.passes(REST_MS)
    assert at.verdict == "allow"


def test_a_damaged_policy_that_was_mended_counts_again(tmp_path: Path) -> None:
    at = Home(tmp_path, "")
    half(at.path)
    with pytest.raises(PolicyUnusable):
        at.live.current()
    at.path.write_text(DENY)
    assert at.verdict == "deny"


def test_a_verdict_says_which_policy_it_comes_from(tmp_path: Path) -> None:
    at = Home(tmp_path)
    old, new = (f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" for text in (DENY, MILDER))
    assert at.live.current().decide(SAVE).policy == old
    at.path.write_text(MILDER)
    assert at.live.current().decide(SAVE).policy == old, "the old one still denies it"
    at.passes(REST_MS)
    assert at.live.current().decide(SAVE).policy == new


def test_scripts_may_do_what_both_versions_allow(tmp_path: Path) -> None:
    at = Home(tmp_path, "[script]\nshell = true\nallow = ['jq', 'sed']\n")
    assert at.live.current().script.shell
    at.path.write_text("[script]\nshell = false\nallow = ['sed', 'awk']\n")
    rules = at.live.current().script
    assert (rules.shell, rules.allow) == (False, ("sed",))
    at.passes(REST_MS)
    assert at.live.current().script.allow == ("sed", "awk")


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702])
def test_a_home_that_others_can_write_to_is_refused_with_the_command_that_mends_it(
    tmp_path: Path, mode: int
) -> None:
    home = tmp_path / "home of ada"
    home.mkdir()
    home.chmod(mode)
    with pytest.raises(PolicyUnusable) as caught:
        Config.from_env({"HANDRAIL_HOME": str(home)}).make_home()
    assert caught.value.hint.endswith(f"do: chmod 700 '{home}'")
    assert home.stat().st_mode & 0o777 == mode
    home.chmod(0o700)
    Config.from_env({"HANDRAIL_HOME": str(home)}).make_home()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_home_of_another_user_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    os.chown(home, 1234, -1)
    with pytest.raises(PolicyUnusable, match="belongs to another user"):
        Config.from_env({"HANDRAIL_HOME": str(home)}).make_home()
