"""The process in which a flow's JavaScript runs: one context, no files, no programs, no network.

It is started as a file, with an empty environment, and speaks lines of JSON with its parent, who ends it.
A script reaches the outside by one door alone: an http call is a line to the parent, who decides.
"""

# Imports nothing of handrail: what is not loaded can't be reached.
from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

MEMORY = 64 << 20
STACK = 1 << 20
ADDRESSES = 1 << 30
CPU_S = 120
LONGEST = 1_000_000
"""Characters of a result, and of everything that one script logs."""

BOOT = """
(function (G, call, say, evaluate) {
  "use strict";
  const text = String, write = JSON.stringify, read = JSON.parse, ceil = Math.ceil;
  const define = Object.defineProperty;
  const request = (method, url, options) => {
    const given = options || {};
    const answer = read(call(write({method: text(given.method || method), url: text(url),
      headers: given.headers, body: given.body, multipartForm: given.multipartForm})));
    if (answer.refused !== undefined) throw new Error(answer.refused);
    return answer;
  };
  const shown = (one) => { try { return typeof one === "object" ? write(one) : text(one); }
                           catch (error) { return "[unprintable]"; } };
  G.output = {};
  const own = G.maestro = {platform: "android", copiedText: ""};
  G.json = (value) => read(value);
  G.relativePoint = (x, y) => ceil(x * 100) + "%," + ceil(y * 100) + "%";
  G.console = {log: (...all) => say(all.map(shown).join(" "))};
  G.console.info = G.console.warn = G.console.error = G.console.debug = G.console.log;
  G.http = {get: (u, o) => request("GET", u, o), post: (u, o) => request("POST", u, o),
            put: (u, o) => request("PUT", u, o), delete: (u, o) => request("DELETE", u, o),
            request: (u, o) => request("GET", u, o)};
  define(G, "faker", {get() { throw new Error("faker is not there; use inputRandom…"); }});
  Object.setPrototypeOf(G, new Proxy(Object.create(null), {
    has: (_, key) => typeof key === "string", get: () => undefined, set: () => false}));
  const doors = {
    run: (code) => text(evaluate(code)),
    set: (name, value) => { define(G, name, {value, writable: true, configurable: true, enumerable: true}); },
    drop: (name) => { delete G[name]; },
    copied: (value) => { own.copiedText = value; },
    platform: (value) => { own.platform = value; },
  };
  return (door, first, second) => doors[door](first, second);
})
"""
EVALUATE = '(function () { "use strict"; return eval(arguments[0]); })'
"""Made apart from `BOOT`: code sees what is global, and nothing that this file has."""


def main() -> None:
    """Answer line by line until the parent closes the pipe."""
    engine = _engine()
    _confine()
    child = _Child(engine)
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        _tell(child.answer(json.loads(line)))


def _engine() -> Any:
    try:
        import quickjs  # type: ignore[import-untyped]  # noqa: PLC0415
    except ImportError:
        return None
    return quickjs


def _confine() -> None:
    """Nothing can be opened, written, started or outlived from here on."""
    import ctypes  # noqa: PLC0415
    import resource as limits  # noqa: PLC0415
    import signal  # noqa: PLC0415

    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(1, int(signal.SIGKILL), 0, 0, 0)  # PR_SET_PDEATHSIG
        libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        libc.unshare(
            0x10000000 | 0x40000000
        )  # a user's own network without an address, where that is allowed
        if os.getppid() == 1:
            os._exit(1)
    for which, most in (
        (limits.RLIMIT_AS, ADDRESSES),
        (limits.RLIMIT_CPU, CPU_S),
        (limits.RLIMIT_CORE, 0),
        (limits.RLIMIT_FSIZE, 0),
        (limits.RLIMIT_NPROC, 0),
        (limits.RLIMIT_NOFILE, 0),
    ):
        limits.setrlimit(which, (most, most))


class _Child:
    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._context: Any = None
        self._inside: Any = None
        self._names: set[str] = set()
        self._log: list[str] = []

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._log = []
        try:
            work = {"eval": self._evaluated, "compile": self._compiled, "match": self._matched}[asked["do"]]
            return {**work(asked), "log": self._log}
        except MemoryError:
            return {"error": "out of memory", "log": self._log}
        except Exception as error:  # whatever a script does, the parent hears of it
            return {"error": f"{error}"[:2_000] or type(error).__name__, "log": self._log}

    def _evaluated(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._ready()
        self._set(asked["env"])
        for name in ("copied", "platform"):
            if asked.get(name) is not None:
                self._inside(name, asked[name])
        value = self._inside("run", asked["code"])
        if not isinstance(value, str) or len(value) > LONGEST:
            return {"error": f"the result has more than {LONGEST:,} characters"}
        return {"text": value}

    def _compiled(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Only whether it can be read: a fresh context, and nothing of it is reached."""
        self._require_engine()
        context = self._engine.Context()
        context.set_memory_limit(MEMORY)
        try:
            context.eval('"use strict"; if (0) {\n' + asked["code"] + "\n}")
        except self._engine.JSException as error:
            line = re.search(r"<input>:(\d+)", str(error))
            said = str(error).partition("\n")[0]
            return {"wrong": said, "line": max(1, int(line[1]) - 1) if line else 1}
        return {}

    def _matched(self, asked: dict[str, Any]) -> dict[str, Any]:
        pattern = re.compile(asked["pattern"], asked["flags"])
        return {"hits": [pattern.fullmatch(one) is not None for one in asked["texts"]]}

    def _require_engine(self) -> None:
        if self._engine is None:
            raise RuntimeError("no JavaScript engine is installed: pip install 'handrail[maestro]'")

    def _ready(self) -> None:
        self._require_engine()
        if self._context is None:
            self._context = self._engine.Context()
            self._context.set_memory_limit(MEMORY)
            self._context.set_max_stack_size(STACK)
            self._context.add_callable("__call", _called)
            self._context.add_callable("__say", self._said)
            boot = self._context.eval(BOOT)
            call, say = self._context.get("__call"), self._context.get("__say")
            self._context.eval("delete globalThis.__call; delete globalThis.__say")
            self._inside = boot(self._context.globalThis, call, say, self._context.eval(EVALUATE))

    def _set(self, env: dict[str, str]) -> None:
        """Variables in force; those of an ended scope are gone."""
        for name in self._names - env.keys():
            self._inside("drop", name)
        for name, value in env.items():
            self._inside("set", name, value)
        self._names = set(env)

    def _said(self, text: object) -> None:
        if sum(map(len, self._log)) < LONGEST:
            self._log.append(str(text)[:10_000])


def _called(asked: object) -> str:
    """One http call; the parent's line is its answer."""
    _tell({"http": str(asked)[:8_000_000]})
    line = sys.stdin.buffer.readline()
    if not line:
        os._exit(1)
    return line.decode()


def _tell(told: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(told).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
