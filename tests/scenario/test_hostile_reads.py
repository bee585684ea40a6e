"""Hostile arguments of query_db, get_logs and get_shared_prefs: generated, and judged by the phone's own
record of commands, by the bytes of its databases, and by what lies on this machine afterwards.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from handrail.errors import HandrailError
from handrail_sim.shell.processes import processes_of
from tests.scenario.world import World, world

NOTES = "com.handrail.notes"
DATABASES = f"/data/data/{NOTES}/databases"
CANARY = "/data/local/tmp/pwned"
POLICY = '[[rule]]\nname = "all"\nverdict = "allow"\n'
PROGRAMS = {
    "run-as", "cat", "ls", "logcat", "date", "pm", "dumpsys", "pidof", "ps", "cmd", "stat", "id", "getprop",
    "exec", "true", "echo", "grep", "sh", "printf", "wc", "kill", "cp", "rm", "mkdir", "chmod", "head",
}  # fmt: skip
"""What reading needs. None of it is chosen by an argument."""

SHELL = [
    "; touch {c}", "$(touch {c})", "`touch {c}`", "' ; touch {c} ; '", '" ; touch {c} ; "', "\n touch {c} \n",
    "| touch {c} #", "&& touch {c}", "--user 0 {c}", "-f {c}", "../../../{c}", "a\x00b", "%s%n",
    "\x1b]0;x\x07",
]  # fmt: skip
SQL = [
    "ATTACH '{h}/made.db' AS x", "VACUUM INTO '{h}/made.db'", "SELECT load_extension('{h}/x.so')",
    "SELECT writefile('{h}/made', 'x')", "SELECT readfile('/etc/passwd')",
    "SELECT edit('x', 'touch {h}/made')",
    "PRAGMA writable_schema = ON", "PRAGMA journal_mode = DELETE", "PRAGMA temp_store_directory = '{h}'",
    "DELETE FROM notes", "DROP TABLE notes", "UPDATE notes SET title = 'x'",
    "INSERT INTO notes DEFAULT VALUES",
    "CREATE TABLE x (y)", "CREATE TEMP TABLE x (y)", "REPLACE INTO notes (id) VALUES (1)", "BEGIN", "COMMIT",
    "SELECT 1; DELETE FROM notes", "SELECT 1 /* ; */ ; DROP TABLE notes --", "EXPLAIN DELETE FROM notes",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
    "SELECT zeroblob(2000000000)", "SELECT randomblob(1000000000)", "SELECT printf('%.*c', 900000000, 'x')",
    "SELECT hex(zeroblob(100000000))", "SELECT group_concat(a.name || b.name) FROM sqlite_master a, "
    "sqlite_master b, sqlite_master c, sqlite_master d, sqlite_master e, sqlite_master f, sqlite_master g",
    "WITH t AS (DELETE FROM notes RETURNING *) SELECT * FROM t", "DELETE FROM notes RETURNING *",
    ".shell touch {c}", ".read /etc/passwd", "SELECT fts3_tokenizer('simple', x'00')",
    "\x00", "--", "/*", "(" * 5000,
]  # fmt: skip


def attempts(home: str, random: Random) -> Iterator[dict[str, Any]]:
    """Each hostile word in each field that takes one, and SQL of both kinds."""
    for text in SHELL:
        word = text.format(c=CANARY)
        yield {"type": "query_db", "package": NOTES, "database": word, "query": "select 1"}
        yield {"type": "query_db", "package": NOTES, "database": f"notes.db{word}", "query": "select 1"}
        yield {"type": "query_db", "package": f"{NOTES}{word}", "database": "notes.db", "query": "select 1"}
        yield {"type": "query_db", "package": NOTES, "database": "notes.db", "query": f"select 1 {word}"}
        yield {"type": "get_logs", "package": f"{NOTES}{word}"}
        yield {"type": "get_logs", "since": word}
        yield {"type": "get_logs", "since": f"5m{word}"}
        yield {"type": "get_logs", "level": word}
        yield {"type": "get_shared_prefs", "package": NOTES, "file": word}
    for sql in SQL:
        query = sql.format(h=home, c=CANARY)
        yield {"type": "query_db", "package": NOTES, "database": "notes.db", "query": query}
        mixed = "".join(random.choice((str.upper, str.lower))(one) for one in query)
        yield {"type": "query_db", "package": NOTES, "database": "notes.db", "query": f"  /**/\t{mixed} ;"}


def databases(w: World) -> dict[str, bytes]:
    names = [name for name in w.phone.files.list(DATABASES) if name.endswith(".db")]
    return {name: w.phone.files.read(f"{DATABASES}/{name}") for name in names}


async def judged(w: World, outside: Path, action: dict[str, Any]) -> None:
    log = processes_of(w.phone).log
    log.clear()
    before, mine, began = databases(w), sorted(outside.rglob("*")), time.process_time()
    try:
        await w.session.run(action)
    except HandrailError as refused:
        assert refused.code == "INVALID_ACTION", action
    assert time.process_time() - began < 25, action
    assert not w.phone.files.exists(CANARY), action
    assert databases(w) == before, action
    assert sorted(outside.rglob("*")) == mine, action
    assert {argv[0] for argv in log} <= PROGRAMS, (action, list(log))
    assert not any("touch" in argv for argv in log), (action, list(log))


def _run(home: Path, some: slice) -> None:
    async def story() -> None:
        async with world(home / "home", policy=POLICY) as w:
            outside = home / "outside"
            outside.mkdir()
            await w.open(NOTES)
            assert "notes.db" in databases(w)
            asked = {"type": "query_db", "package": NOTES, "database": "notes.db"}
            told = await w.session.run(asked | {"query": "select count(*) from sqlite_master"})
            assert told.success, told.to_json()  # so that a refusal says something
            assert any(argv[0] == "run-as" for argv in processes_of(w.phone).log)
            for action in list(attempts(str(outside), Random(17)))[some]:
                await judged(w, outside, action)

    asyncio.run(story())


def test_hostile_arguments_of_reads_run_nothing_and_change_nothing(tmp_path: Path) -> None:
    _run(tmp_path, slice(0, None, 12))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_all_hostile_arguments_of_reads_run_nothing_and_change_nothing(tmp_path: Path, part: int) -> None:
    _run(tmp_path, slice(part, None, 4))
