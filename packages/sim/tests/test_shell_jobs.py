"""Processes, jobs, pipes and limits: nothing in a shell may hang, leak or bring the phone down."""

from __future__ import annotations

import asyncio
import random
import shlex

import pytest

from handrail_sim.shell import COMMANDS, ShellIO, capture, run
from handrail_sim.shell.io import Bytes, Pipe
from handrail_sim.shell.processes import processes_of
from tests.shell_person import new_phone, out, run_to_end, shell


def test_a_writer_ends_when_its_reader_has_enough() -> None:
    assert out("yes | head -n 2") == "y\ny\n"
    assert out("while true; do echo x; done | head -n 1") == "x\n"


def test_a_command_can_be_hung_up() -> None:
    async def story() -> None:
        phone = new_phone()
        work = asyncio.ensure_future(capture(phone, "sleep 1000; echo never"))
        await asyncio.sleep(0)
        assert [process.name for process in processes_of(phone).running.values()] == ["sh", "sleep"]
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert not processes_of(phone).running

    asyncio.run(story())


def test_an_endless_loop_lets_others_work_and_can_be_hung_up() -> None:
    async def story() -> None:
        phone = new_phone()
        work = asyncio.ensure_future(capture(phone, "while :; do :; done"))
        assert (await run_to_end(phone, "echo still here")).text == "still here\n"
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(story())


def test_a_slow_reader_stops_the_writer() -> None:
    async def story() -> None:
        phone, taken = new_phone(), Pipe()
        work = asyncio.ensure_future(run(phone, "yes", ShellIO(Bytes(b""), taken.write, taken.write)))
        for _ in range(1000):
            await asyncio.sleep(0)
        assert len(await taken.read()) <= 65536
        taken.leave()
        assert await work == 141

    asyncio.run(story())


def test_a_background_job_with_its_own_output_does_not_hold_the_shell() -> None:
    async def story() -> None:
        phone = new_phone()
        answer = await asyncio.wait_for(
            capture(phone, "nohup sleep 500 >/dev/null 2>&1 & echo started $!"), 5
        )
        assert answer.text.startswith("started 2")
        assert (await run_to_end(phone, "pgrep sleep | wc -l")).text == "1\n"
        await run_to_end(phone, "pkill sleep")
        assert (await run_to_end(phone, "pgrep sleep")).status == 1

    asyncio.run(story())


def test_a_background_job_that_keeps_the_output_keeps_the_stream_open() -> None:
    answer = shell("(sleep 1; echo late) & echo early")
    assert answer.text == "early\nlate\n"


def test_wait_gives_the_status_of_a_job() -> None:
    assert out("(exit 9) & wait $!; echo $?") == "9\n"


def test_kill_ends_a_command_and_not_its_shell() -> None:
    async def story() -> None:
        phone = new_phone()
        work = asyncio.ensure_future(capture(phone, "sleep 1000; echo then $?"))
        await asyncio.sleep(0)
        assert (await run_to_end(phone, "kill -9 $(pidof sleep)")).status == 0
        answer = await work
        assert answer.text == "then 137\n"
        assert answer.errors == "Killed \n"

    asyncio.run(story())


def test_a_shell_that_kills_itself_is_gone() -> None:
    answer = shell("echo before; kill $$; echo after; sleep 1; echo late")
    assert (answer.status, answer.text) == (143, "before\n")
    assert shell("killall -9 killall; echo $?").text == "137\n"


def test_the_shell_may_not_kill_what_is_not_its_own() -> None:
    answer = shell("kill -9 $(pidof system_server)")
    assert answer.status == 1
    assert answer.errors == "/system/bin/sh: kill: 543: Operation not permitted\n"
    assert shell("kill 31999").errors == "/system/bin/sh: kill: 31999: No such process\n"


def test_a_reboot_ends_every_command() -> None:
    async def story() -> None:
        phone = new_phone()
        work = asyncio.ensure_future(capture(phone, "sleep 1000"))
        await asyncio.sleep(0)
        phone.reboot()
        assert (await work).status != 0
        assert not processes_of(phone).running

    asyncio.run(story())


def test_timeout_gives_up_on_the_phones_clock() -> None:
    assert out("timeout 2 sleep 100; echo $?; timeout 5 echo quick; echo $?") == "124\nquick\n0\n"


@pytest.mark.parametrize(
    "command",
    [
        "f() { f; }; f",
        "f() f; f",
        "cd /data/local/tmp; echo 'sh x' > x; sh x",
        "x='eval $x'; eval $x",
        "cd /data/local/tmp; echo '. ./x' > x; . ./x",
        "f() { echo $(f); }; f",
        "env " * 300 + "true",
        "(" * 200 + "true" + ")" * 200,
        "echo " + "$(" * 200 + ")" * 200,
        "echo $((" + "(" * 300 + "1" + ")" * 300 + "))",
    ],
)
def test_recursion_ends_with_a_complaint(command: str) -> None:
    assert "too deep" in shell(command).errors


def test_random_text_never_breaks_the_shell() -> None:
    words = [
        "echo",
        "$(",
        ")",
        "`",
        "'",
        '"',
        "\\",
        "$",
        "${",
        "}",
        "((",
        "|",
        "&",
        ";",
        "\n",
        ">",
        "<",
        "<<",
        "a",
        "[",
        "]",
    ]
    words += [
        "if",
        "then",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "case",
        "esac",
        "!",
        "{",
        " ",
        "*",
        "~",
        "=",
        "A=",
        "$((",
        "%",
        "2>&1",
    ]
    chance = random.Random(7)
    phone = new_phone()

    async def story() -> None:
        for _ in range(1500):
            text = "".join(
                chance.choice(words) + chance.choice(["", " "]) for _ in range(chance.randrange(1, 14))
            )
            await asyncio.wait_for(run_to_end(phone, text), 10)

    asyncio.run(story())
    assert not processes_of(phone).running


def test_ps_shows_who_runs() -> None:
    rows = out("ps -A", phone=new_phone(["notes"])).splitlines()
    assert rows[0].split() == ["USER", "PID", "PPID", "VSZ", "RSS", "WCHAN", "ADDR", "S", "NAME"]
    assert all(len(row.split()) == 9 for row in rows[1:])
    names = [row.split()[-1] for row in rows]
    assert {"init", "system_server", "com.android.systemui", "com.android.launcher3", "sh", "ps"} <= set(
        names
    )


def test_ps_prints_the_columns_that_were_asked_for() -> None:
    assert "543 system_server" in out("ps -A -o PID,NAME")
    assert out("ps -p 1 -o NAME=") == "init\n"


def test_random_arguments_never_break_a_command() -> None:
    """Whatever a command is given, it answers with a status; Python's own failures never come out."""
    some = (
        "-a -n -c -d -e -f -s -p -l -r -i -k -S -m -v -o --user -9 -3 -- - 0 1 -1 99999999999 3.5 . x".split()
    )
    some += "é \udc80 / /sdcard /nosuch * a=b s/a/b/ s/(/b/ ( {} ; +x zzz %d% +%Q --pid=x *:Q".split()
    some += ["", *"com.handrail.notes start get put list system size dump tap text keyevent".split()]
    chance, phone = random.Random(11), new_phone(["notes"])
    endless = {
        *"yes reboot logcat screencap screenrecord uiautomator sleep svc monkey getevent nc tail top".split()
    }
    names = sorted(set(COMMANDS) - endless)

    async def story() -> None:
        for _ in range(1500):
            words = [chance.choice(names), *(chance.choice(some) for _ in range(chance.randrange(6)))]
            await run_to_end(phone, shlex.join(words), b"some text\nmore 12\n")

    asyncio.run(story())


def test_the_pid_of_a_background_command_is_the_commands_own() -> None:
    phone = new_phone()
    for words in ("sleep 50", "nohup sleep 50", "A=1 env B=2 nohup sleep 50 >/dev/null 2>&1 </dev/null"):
        quiet = "2>/dev/null"
        text = f"{words} & kill -0 $! && ps -o PID,NAME -p $!; kill -9 $! {quiet}; wait {quiet}; "
        text += f"kill -0 $! {quiet} || echo gone"
        said = shell(text, phone=phone).text.splitlines()
        assert said[1].split()[1] == "sleep", words
        assert said[-1] == "gone", words
