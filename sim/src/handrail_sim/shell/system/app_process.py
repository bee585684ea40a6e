"""`app_process`: starts the Java programs this phone serves and refuses the others at once.

A program that starts and serves nothing would keep its client waiting; an honest refusal does not.
"""

from __future__ import annotations

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.sim_command import sim_command


async def run(call: Call) -> int:
    """`app_process [java options] COMMAND_DIR CLASS [arguments]`, the class found on CLASSPATH."""
    path, rest = call.env.get("CLASSPATH", ""), list[str]()
    for at, arg in enumerate(call.args):
        if not arg.startswith("-"):
            rest = call.args[at:]
            break
        if arg.startswith("-Djava.class.path="):
            path = arg.partition("=")[2]
    rest = [arg for arg in rest if not arg.startswith("--nice-name=")]
    if len(rest) < 2:
        await call.err("Usage: app_process [java-options] cmd-dir start-class-name [options]")
        return 10
    if (refused := call.phone.faults.get("helper_refused")) is not None:
        await call.err(str(refused["why"]))
        return 1
    main, name = call.phone.helper_mains.get(rest[1]), rest[1]
    files = [part for part in path.split(":") if part]
    there = any(call.session.files.exists(call.path(part)) for part in files)
    if main is None or not there:
        return await _not_found(call, name, files)
    inner = Call(call.phone, [name, *rest[2:]], call.session, call.stdin, call.stdout, call.stderr)
    status: int = await main(inner)
    return status


async def _not_found(call: Call, name: str, files: list[str]) -> int:
    listed = ", ".join(f'zip file "{part}"' for part in files)
    await call.err(
        f'java.lang.ClassNotFoundException: Didn\'t find class "{name}" on path: '
        f"DexPathList[[{listed}],nativeLibraryDirectories=[/system/lib64, /system_ext/lib64]]\n"
        "\tat dalvik.system.BaseDexClassLoader.findClass(BaseDexClassLoader.java:259)\n"
        "\tat java.lang.ClassLoader.loadClass(ClassLoader.java:379)\n"
        "\tat com.android.internal.os.RuntimeInit.main(RuntimeInit.java:363)"
    )
    return 1


FAMILY: dict[str, Command] = {
    "app_process": run,
    "app_process64": run,
    "app_process32": run,
    "sim": sim_command,
}
