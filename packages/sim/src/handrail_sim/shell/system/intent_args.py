"""Intents as command lines write them and as Android prints them. Starts nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handrail_sim.shell.system.verbs import JavaError, integer, number
from handrail_sim.system.intents import Intent, short_component

MAIN = "android.intent.action.MAIN"
LAUNCHER = "android.intent.category.LAUNCHER"
_FLAGS_WITHOUT_VALUE = ("--activity-", "--grant-", "--receiver-", "--exclude-", "--include-", "--debug-")
_SCALARS: dict[str, Callable[[str], Any]] = {
    "-e": str,
    "--es": str,
    "--eu": str,
    "--ei": integer,
    "--el": integer,
    "--ef": number,
    "--ed": number,
}
_ARRAYS: dict[str, Callable[[str], Any]] = {
    "--esa": str,
    "--eia": integer,
    "--ela": integer,
    "--efa": number,
    "--esal": str,
    "--eial": integer,
}


class IntentArgs:
    """An intent read from arguments; options of the command itself are kept apart."""

    def __init__(
        self, args: list[str], *, valued: frozenset[str] = frozenset(), flags: frozenset[str]
    ) -> None:
        self.intent = Intent()
        self.flags = 0
        self.options: dict[str, str] = {}
        self._args = list(args)
        self._valued = valued
        self._plain = flags
        while self._args:
            self._take(self._args.pop(0))

    def _next(self, option: str) -> str:
        if not self._args:
            raise JavaError("java.lang.IllegalArgumentException", f'Argument expected after "{option}"')
        return self._args.pop(0)

    def _take(self, arg: str) -> None:
        if arg in self._plain:
            self.options[arg] = ""
        elif arg in self._valued:
            self.options[arg] = self._next(arg)
        elif arg in {"-a", "-d", "-t", "-c", "-n", "-p", "-f", "-i"}:
            self._part(arg, self._next(arg))
        elif arg in _SCALARS or arg in _ARRAYS or arg in {"--ez", "--esn", "--ecn"}:
            self._extra(arg)
        elif arg == "--selector" or arg.startswith(_FLAGS_WITHOUT_VALUE):
            return
        elif arg.startswith("-"):
            raise JavaError("java.lang.IllegalArgumentException", f"Unknown option: {arg}")
        else:
            self._target(arg)

    def _part(self, option: str, value: str) -> None:
        intent = self.intent
        match option:
            case "-a":
                intent.action = value
            case "-d":
                intent.data = value
            case "-t":
                intent.mime = value
            case "-c":
                intent.categories = (*intent.categories, value)
            case "-p":
                intent.package = value
            case "-f":
                self.flags |= int(value, 0) if value[:1].isdigit() else 0
            case "-n":
                if "/" not in value:
                    raise JavaError("java.lang.IllegalArgumentException", f"Bad component name: {value}")
                intent.component = value

    def _extra(self, option: str) -> None:
        name = self._next(option)
        value: Any = None
        if option in _SCALARS:
            value = _SCALARS[option](self._next(option))
        elif option in _ARRAYS:
            value = [_ARRAYS[option](part) for part in self._next(option).split(",")]
        elif option == "--ez":
            value = self._next(option).lower() in {"true", "1", "t"}
        elif option == "--ecn":
            value = self._next(option)
        self.intent.extras[name] = value

    def _target(self, arg: str) -> None:
        """A last word: a URI, a component, or a package to launch."""
        if ":" in arg:
            self.intent.data = arg
        elif "/" in arg:
            self.intent.component = arg
        else:
            self.intent.package = arg
            self.intent.action = self.intent.action or MAIN
            self.intent.categories = self.intent.categories or (LAUNCHER,)


def shown(intent: Intent, flags: int = 0) -> str:
    """`Intent { act=… cat=[…] dat=… cmp=… }`; the path of a web address is not shown, as in Android 14."""
    parts = [f"act={intent.action}"] if intent.action else []
    parts += [f"cat=[{','.join(intent.categories)}]"] if intent.categories else []
    parts += [f"dat={_address(intent.data)}"] if intent.data else []
    parts += [f"typ={intent.mime}"] if intent.mime else []
    parts += [f"flg=0x{flags:x}"] if flags else []
    parts += [f"pkg={intent.package}"] if intent.package else []
    parts += [f"cmp={short_component(intent.component)}"] if intent.component else []
    parts += ["(has extras)"] if intent.extras else []
    return f"Intent {{ {' '.join(parts)} }}"


def _address(data: str) -> str:
    scheme, colon, rest = data.partition(":")
    if scheme in {"tel", "sms", "smsto", "mailto", "sip"}:
        return f"{scheme}:xxxxxxxxxx" if rest else data
    if not rest.startswith("//"):
        return data
    host, slash, path = rest[2:].partition("/")
    return f"{scheme}{colon}//{host}{slash}{'...' if path else ''}"
