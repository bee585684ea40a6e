"""Running a parsed script: control flow, pipelines, redirections, jobs. Knows no command by name."""

from __future__ import annotations

import asyncio
from fnmatch import fnmatchcase

from handrail_sim.shell.arithmetic import evaluate
from handrail_sim.shell.call import Call
from handrail_sim.shell.conditions import judge
from handrail_sim.shell.expand import Expander
from handrail_sim.shell.io import Collected, Nothing, Pipe, Streams
from handrail_sim.shell.parse import parse
from handrail_sim.shell.processes import SIGNALS, Process, processes_of
from handrail_sim.shell.redirect import RedirectFailed, redirected
from handrail_sim.shell.session import MAX_DEPTH, Leave, Loop, Return, Session
from handrail_sim.shell.start import complain, run_command
from handrail_sim.shell.syntax import (
    Assignment,
    Case,
    For,
    Function,
    Group,
    If,
    Node,
    Pipeline,
    Redirect,
    Script,
    ShellSyntaxError,
    Simple,
    Statement,
    Test,
    While,
)
from handrail_sim.waiting import Background

SIGPIPE_STATUS = 141
MAX_SUBSTITUTION = 1 << 24


class Interpreter:
    """Runs scripts in one session. Every method gives the exit status."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.expander = Expander(session, self._substitute, self._glob)
        self.substituted = 0

    async def script(self, script: Script) -> int:
        session = self.session
        if session.depth >= MAX_DEPTH:
            await complain(session, "recursion too deep")
            raise Leave(1)
        session.depth += 1
        try:
            for statement in script.statements:
                session.status = await self._statement(statement)
            return session.status
        finally:
            session.depth -= 1

    async def top(self, script: Script) -> int:
        """As a whole shell: `exit`, stray `return` and `break` end here, and the trap on EXIT runs."""
        try:
            status = await self.script(script)
        except (Leave, Return) as end:
            status = end.status
        except Loop:
            status = self.session.status
        return await self.leave(status)

    async def leave(self, status: int) -> int:
        """The end of a shell: `trap … EXIT`, whose own `exit` decides over the status."""
        last = self.session.traps.pop("EXIT", "")
        if not last:
            return status
        self.session.status = status
        try:
            await self.script(parse(last))
        except Leave as end:
            return end.status
        return status

    async def _trapped(self, shell: Process) -> bool:
        """Run the trap on a signal that the shell got, if there is one; then the signal is done with."""
        name = next((name for name, number in SIGNALS.items() if number == shell.signal), "")
        handler = self.session.traps.get(name)
        if handler is None:
            return False
        shell.signal = 0
        if handler:
            await self.script(parse(handler))
        return True

    async def _statement(self, statement: Statement) -> int:
        if statement.background:
            return await self._background(statement)
        status = await self._pipeline(statement.first)
        checked = not statement.rest and not statement.first.negated
        for operator, pipeline in statement.rest:
            if (status == 0) == (operator == "&&"):
                self.session.status = status
                status = await self._pipeline(pipeline)
        if status and checked and self.session.exit_on_error:
            raise Leave(status)
        return status

    async def _pipeline(self, pipeline: Pipeline) -> int:
        shell = self.session.shell
        if shell is not None and shell.signal and not await self._trapped(shell):
            raise Leave(128 + shell.signal)
        if len(pipeline.stages) == 1:
            status = await self.node(pipeline.stages[0])
        else:
            status = await self._piped(pipeline.stages)
        return int(not status) if pipeline.negated else status

    async def _piped(self, stages: tuple[Node, ...]) -> int:
        streams = self.session.streams
        pipes = [Pipe() for _ in stages[1:]]
        tasks: list[asyncio.Task[int]] = []
        async with Background() as running:
            for at, stage in enumerate(stages):
                stdin = pipes[at - 1] if at else streams.stdin
                stdout = pipes[at] if at < len(pipes) else streams.stdout
                inner = self.session.subshell(Streams(stdin, stdout, streams.stderr))
                before, after = pipes[at - 1] if at else None, pipes[at] if at < len(pipes) else None
                work = _stage(inner, stage, before, after)
                tasks.append(running.start(work, "a stage of a pipe", heard=True))
            ends = await asyncio.gather(*tasks)
            failed = [status for status in ends if status]
            return failed[-1] if failed and "pipefail" in self.session.modes else ends[-1]

    async def _background(self, statement: Statement) -> int:
        session, table = self.session, processes_of(self.session.phone)
        inner = session.subshell(Streams(Nothing(), session.streams.stdout, session.streams.stderr))
        foreground = Statement(statement.first, statement.rest)
        inner.parent, inner.pid = session.pid, table.new_pid()
        session.background_pid = inner.pid
        inner.shell, inner.owns_pid, inner.in_place = None, True, _is_command(statement)
        job = asyncio.ensure_future(Interpreter(inner).job(Script((foreground,))))
        table.keep(job, session.group)
        table.forked(
            inner.pid, session.pid, session.user, session.phone.clock.monotonic_ms(), job, session.group
        )
        if not leaves_streams(statement):
            session.jobs.append(job)
        session.all_jobs[inner.pid] = job
        await asyncio.sleep(0)  # a fork is there before its parent goes on
        return 0

    async def job(self, script: Script) -> int:
        """In the background: nobody waits for a failure."""
        try:
            return await self.top(script)
        except BrokenPipeError:
            return SIGPIPE_STATUS
        except ShellSyntaxError as problem:
            await complain(self.session, str(problem))
            return 1

    async def node(self, node: Node) -> int:
        if isinstance(node, Simple):
            return await self._simple(node)
        if isinstance(node, Function):
            self.session.functions[node.name] = node.body
            return 0
        if isinstance(node, Test):
            return await self._test(node)
        if not node.redirects:
            return await self._compound(node)
        return await self._redirected(node)

    async def _redirected(self, node: Group | If | For | While | Case) -> int:
        before = self.session.streams
        try:
            async with redirected(self.session, before, await self._targets(node.redirects)) as streams:
                self.session.streams = streams
                return await self._compound(node)
        except RedirectFailed as problem:
            self.session.streams = before
            await complain(self.session, str(problem))
            return 1
        finally:
            self.session.streams = before

    async def _compound(self, node: Group | If | For | While | Case) -> int:
        if isinstance(node, Group):
            return await self._group(node)
        if isinstance(node, If):
            return await self._if(node)
        if isinstance(node, Case):
            return await self._case(node)
        return await (self._for(node) if isinstance(node, For) else self._while(node))

    async def _test(self, node: Test) -> int:
        """`[[ … ]]`: the right side of `=` and `!=` is a pattern unless it is quoted."""
        words: list[str] = []
        for token in node.tokens:
            if isinstance(token, str):
                words.append(token)
            elif words[-1:] and words[-1] in {"=", "==", "!="}:
                words.append(await self.expander.pattern(token))
            else:
                words.append(await self.expander.single(token))
        streams = self.session.streams
        call = Call(self.session.phone, ["[["], self.session, streams.stdin, streams.stdout, streams.stderr)
        return await judge(call, words)

    async def _group(self, node: Group) -> int:
        if node.subshell:
            return await Interpreter(self.session.subshell()).top(node.script)
        return await self.script(node.script)

    async def _if(self, node: If) -> int:
        for condition, body in node.branches:
            if await self._condition(condition):
                return await self.script(body)
        return await self.script(node.otherwise) if node.otherwise else 0

    async def _condition(self, script: Script) -> bool:
        strict, self.session.exit_on_error = self.session.exit_on_error, False
        try:
            return await self.script(script) == 0
        finally:
            self.session.exit_on_error = strict

    async def _case(self, node: Case) -> int:
        value = await self.expander.single(node.word)
        for patterns, body in node.arms:
            for pattern in patterns:
                if fnmatchcase(value, await self.expander.pattern(pattern)):
                    return await self.script(body)
        return 0

    async def _for(self, node: For) -> int:
        session = self.session
        values = list(session.parameters) if node.words is None else await self.expander.words(node.words)
        status = 0
        for value in values:
            session.put(node.name, value)
            status, go_on = await self._round(node.body)
            if not go_on:
                break
        return status

    async def _while(self, node: While) -> int:
        status = 0
        while await self._condition(node.condition) != node.until:
            status, go_on = await self._round(node.body)
            if not go_on:
                break
        return status

    async def _round(self, body: Script) -> tuple[int, bool]:
        """One turn of a loop, and whether another may follow. Others get a turn as well."""
        await asyncio.sleep(0)
        try:
            return await self.script(body), True
        except Loop as jump:
            if jump.count > 1:
                raise Loop(jump.count - 1, again=jump.again) from None
            return 0, jump.again

    async def _simple(self, node: Simple) -> int:
        self.substituted = 0
        try:
            argv = await self.expander.words(node.words)
            values = [pair for one in node.assignments for pair in await self._assigned(one, argv)]
            if not node.redirects:
                return await run_command(self, argv, values, self.session.streams)
            targets = await self._targets(node.redirects)
            async with redirected(self.session, self.session.streams, targets) as streams:
                return await run_command(self, argv, values, streams)
        except ShellSyntaxError as problem:
            await complain(self.session, str(problem))
            raise Leave(1) from None
        except RedirectFailed as problem:
            await complain(self.session, str(problem))
            return 1

    async def _assigned(self, one: Assignment, argv: list[str]) -> list[tuple[str, str]]:
        """A name and its value; arrays and elements are stored at once and give none."""
        session = self.session
        if one.values is not None:
            values = await self.expander.words(one.values)
            held = session.array(one.name)
            first = max(held, default=-1) + 1 if one.appends else 0
            if not one.appends:
                held.clear()
            held.update(enumerate(values, first))
            return []
        value = await self.expander.single(one.word)
        if one.index is not None:
            at = int(evaluate(await self.expander.single(one.index), session.get))
            held = session.array(one.name)
            held[at] = held.get(at, "") + value if one.appends else value
            return []
        if one.appends:
            value = (session.get(one.name) or "") + value
        if one.name in session.read_only:
            raise ShellSyntaxError(f"{one.name}: is read only")
        if not argv and one.name in session.arrays:
            session.put(one.name, value)
            return []
        return [(one.name, value)]

    async def _targets(self, redirects: tuple[Redirect, ...]) -> list[tuple[Redirect, str]]:
        return [(redirect, await self.expander.single(redirect.target)) for redirect in redirects]

    async def _substitute(self, script: Script) -> str:
        if self.session.depth >= MAX_DEPTH:
            raise ShellSyntaxError("recursion too deep")
        out = Collected(MAX_SUBSTITUTION)
        streams = Streams(self.session.streams.stdin, out, self.session.streams.stderr)
        inner = self.session.subshell(streams)
        self.session.status = self.substituted = await Interpreter(inner).top(script)
        return out.value().replace(b"\0", b"").decode("utf-8", "surrogateescape").rstrip("\n")

    def _glob(self, pattern: str) -> list[str]:
        if pattern.startswith("/"):
            return self.session.files.glob(pattern)
        base = self.session.cwd.rstrip("/") + "/"
        return [path.removeprefix(base) for path in self.session.files.glob(base + pattern)]


async def _stage(session: Session, node: Node, before: Pipe | None, after: Pipe | None) -> int:
    try:
        return await Interpreter(session).top(Script((Statement(Pipeline((node,))),)))
    except BrokenPipeError:
        return SIGPIPE_STATUS
    except ShellSyntaxError as problem:
        await complain(session, str(problem))
        return 1
    finally:
        if before:
            before.leave()
        if after:
            after.end()


def _is_command(statement: Statement) -> bool:
    """One plain command: the fork becomes it, so that `$!` is its pid."""
    stages = statement.first.stages
    return not statement.rest and len(stages) == 1 and isinstance(stages[0], Simple)


def leaves_streams(statement: Statement) -> bool:
    """Whether a background job points both its outputs elsewhere, so that nobody waits for them to close."""
    stages = [
        stage for pipeline in (statement.first, *(p for _, p in statement.rest)) for stage in pipeline.stages
    ]
    return all({1, 2} <= {redirect.fd for redirect in getattr(stage, "redirects", ())} for stage in stages)
