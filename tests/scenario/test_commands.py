"""One phone, one command after another: every step a process of its own, as a person or an agent runs it."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.forked import handrail
from tests.unit.cli.test_devices import served_phones

PATIENCE_S = 60
CONTACTS = "com.google.android.contacts"
HANDRAIL = [sys.executable, "-m", "handrail.cli.main"]


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def envelope(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.out)
        return read


@dataclass(frozen=True)
class Shell:
    """Where commands are typed: one home, one phone."""

    env: dict[str, str]

    def __call__(self, *words: str) -> Done:
        done = handrail(*words, env=self.env)
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*HANDRAIL, *words], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def ref(self, label: str) -> str:
        """As a person finds it: on the screen."""
        screen = self("ui").out
        found = re.search(rf"^\s*(@\w+) .*{re.escape(label)}", screen, re.M)
        assert found, screen
        return found[1]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with served_phones(apps=None) as [one]:
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HANDRAIL_HOME": str(tmp_path / "home")}
        yield Shell(env | {"HANDRAIL_DEVICE": one.address, "HANDRAIL_NO_DAEMON": "1"})


@pytest.mark.slow
def test_a_contact_is_made_by_ten_commands(shell: Shell) -> None:
    started = shell("start-app", CONTACTS, "--reason", "I want to add a contact")
    assert (started.code, started.err) == (0, "")
    assert started.out.startswith(f"Started {CONTACTS}.\n\nScreen changed: ")

    # A ref that one command gave is good in the next one.
    opened = shell("tap", shell.ref("Create new contact"), "--expect", "First name")
    assert opened.code == 0, opened.err

    typed = shell("type-text", "Ada", "--target", "First name", "--json")
    assert typed.code == 0
    assert typed.envelope["lifecycle_state"] == "verified"
    assert typed.envelope["verification"]["observed"] == "Ada"

    assert shell("type-text", "Lovelace", "--target", "Last name").out.startswith('Typed "Lovelace" into')
    assert shell("type-text", "555 0100", "--target", "Phone").code == 0

    saved = shell("tap", "Save")
    assert saved.code == 0, saved.err

    assert shell("expect-visible", "--text-contains", "Lovelace").code == 0
    absent = shell("expect-absent", "--text-contains", "Lovelace", "--timeout-ms", "0")
    assert absent.code == 1
    assert absent.out == ""
    assert absent.err.startswith("ASSERTION_FAILED: ")

    listed = [json.loads(line) for line in shell("journal", "export").out.splitlines()]
    ends = [entry for entry in listed if entry.get("terminal")]
    assert [entry["envelope"]["action_type"] for entry in ends].count("type_text") == 3
    assert "I want to add a contact" in json.dumps(listed)
    assert shell("journal", "verify").code == 0


@pytest.mark.slow
def test_a_secret_is_typed_and_never_shown(shell: Shell) -> None:
    value = "zebra umbrella 4711"
    shell.env["HANDRAIL_SECRET_NAME"] = value
    shell("start-app", CONTACTS)
    shell("tap", "Create new contact")
    typed = shell("type-text", "${secret:NAME}", "--target", "First name")
    assert typed.out.startswith("Typed a secret.\n"), typed.err
    screens = [shell("ui"), shell("tap", "Save"), shell("get-ui-tree", "--json")]
    assert any("${secret:NAME}" in done.out for done in screens)
    assert not any(value in done.out + done.err for done in (typed, *screens))


@pytest.mark.slow
def test_exit_codes_tell_the_families_apart(shell: Shell) -> None:
    missing = shell("tap", "There is no such thing")
    assert (missing.code, missing.out) == (1, "")
    assert missing.err.startswith("ELEMENT_NOT_FOUND: ")
    assert len(missing.err.splitlines()) >= 2

    invalid = shell("swipe", "upp", "--json")
    assert invalid.code == 2
    assert invalid.envelope["failure_code"] == "INVALID_ACTION"
    assert invalid.envelope["path"] == "direction"

    nobody = shell("tap", "Save", "--device", "127.0.0.1:1")
    assert nobody.code == 3
    assert "Traceback" not in nobody.err

    absent_app = shell("start-app", "no.such.app", "--json")
    assert absent_app.code == 3
    assert absent_app.envelope["failure_code"] == "APP_NOT_INSTALLED"


def test_a_picture_goes_where_it_is_told(shell: Shell, tmp_path: Path) -> None:
    to = tmp_path / "shot.png"
    done = shell("screenshot", "--out", str(to))
    assert done.out.startswith(f"Took a screenshot: {to} (")
    assert to.read_bytes().startswith(b"\x89PNG")
    anywhere = shell("screenshot")
    made = Path(re.findall(r": (\S+) \(", anywhere.out)[0])
    try:
        assert made.read_bytes().startswith(b"\x89PNG")
    finally:
        made.unlink()
    nowhere = shell("screenshot", "--out", str(tmp_path / "no" / "shot.png"))
    assert nowhere.code == 2
    assert nowhere.err.startswith("INVALID_ACTION: out: ")
    told = shell("screenshot", "--json", "--out", str(to))
    assert told.envelope["details"]["path"] == str(to)
    assert "screenshotBase64" not in told.envelope["details"]


def test_ctrl_c_stops_the_action_and_the_journal_knows_it(shell: Shell) -> None:
    shell("ui")
    with shell.start("wait-for", "There is no such thing", "--timeout-ms", "600000") as waiting:
        _until(lambda: '"wait_for"' in shell("journal", "export").out)
        waiting.send_signal(signal.SIGINT)
        out, err = waiting.communicate(timeout=PATIENCE_S)
    assert (waiting.returncode, out) == (130, "")
    assert err.startswith("CANCELLED: wait_for was stopped")
    assert "Traceback" not in err
    ends = [json.loads(line) for line in shell("journal", "export").out.splitlines()]
    last = [entry for entry in ends if entry.get("terminal")][-1]
    assert last["envelope"]["failure_code"] == "CANCELLED"


def test_without_a_terminal_the_answer_comes_from_another_process(shell: Shell) -> None:
    with shell.start("shell", "--", "echo", "all", "right") as asking:
        assert asking.stderr
        question = ""
        while "handrail approve" not in question:
            line = asking.stderr.readline()
            assert line, question
            question += line
        id_ = re.findall(r"handrail approve (\S+)", question)[0]
        assert shell("approve", id_).code == 0
        out, _ = asking.communicate(timeout=PATIENCE_S)
    assert (asking.returncode, out) == (0, "all right\n")

    with shell.start("shell", "--json", "--", "echo", "no") as asking:
        assert asking.stderr
        while "handrail reject" not in (line := asking.stderr.readline()):
            assert line
        assert shell("reject", re.findall(r"handrail reject (\w+)", line)[0]).code == 0
        out, _ = asking.communicate(timeout=PATIENCE_S)
    assert asking.returncode == 4
    assert json.loads(out)["failure_code"] == "ACTION_REJECTED"


def test_at_a_terminal_the_question_is_asked_there(shell: Shell) -> None:
    keys, terminal = pty.openpty()
    with subprocess.Popen(
        [*HANDRAIL, "shell", "echo", "\x1b[2Jall right"],
        env=shell.env, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
    ) as asking:  # fmt: skip
        os.close(terminal)
        shown = _read(keys, until="[n] no:")
        assert "? shell" in shown
        os.write(keys, b"y\n")
        shown += _read(keys, until="all right")
        assert asking.wait(timeout=PATIENCE_S) == 0
    assert "\x1b[2J" not in shown
    os.close(keys)


def test_a_phone_of_its_own_for_one_command(shell: Shell) -> None:
    env = {name: value for name, value in shell.env.items() if name != "HANDRAIL_DEVICE"}
    done = Shell(env)("get-ui-tree", "--sim")
    assert done.code == 0
    assert "com.android.launcher3" in done.out.splitlines()[0]


def test_a_level_that_is_none_is_invalid_input(shell: Shell) -> None:
    wrong = Shell(shell.env | {"HANDRAIL_LOG": "loud"})("get-ui-tree")
    assert wrong.code == 2
    assert "HANDRAIL_LOG" in wrong.err


def test_a_reader_that_has_seen_enough_is_no_failure(shell: Shell) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*HANDRAIL, "get-ui-tree"], env=shell.env, stdout=writer, stderr=subprocess.PIPE,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def _read(handle: int, *, until: str) -> str:
    shown = b""
    while until.encode() not in shown:
        part = os.read(handle, 4096)
        assert part, shown.decode()
        shown += part
    return shown.decode()


def _until(condition: Any) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
