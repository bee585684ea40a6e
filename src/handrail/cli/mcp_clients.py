"""MCP clients whose configuration files are publicly documented: where those are, what an entry looks like.

A table; nothing here opens a file. Where a client's makers document a file for some systems only, the others
have none.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.read import nearest

Scope = Literal["user", "project"]
System = Literal["linux", "darwin", "win32"]
NAME = "handrail"


@dataclass(frozen=True, slots=True)
class McpClient:
    """One client."""

    title: str
    user: Mapping[str, str]
    """System → file; `~` is the home, `%APPDATA%` what Windows calls so, "" the file for all others."""
    project: str = ""
    key: str = "mcpServers"
    """The table that has a member for each server."""
    is_desktop: bool = False
    """Started without a shell: it does not see the `PATH` that `handrail` is found on."""
    says_type: bool = False
    documented: str = ""
    afterwards: str = "It reads the file when it starts."

    def file(self, scope: Scope, env: Mapping[str, str], folder: Path, system: str = sys.platform) -> Path:
        """Where its entry goes."""
        if scope == "project":
            if not self.project:
                raise Unsupported(
                    f"{self.title} has no file for one project", hint="Leave --scope out.", path="scope"
                )
            return folder / self.project
        written = self.user.get(system, self.user.get("", ""))
        if not written:
            raise Unsupported(
                f"{self.title} documents no configuration file for this system",
                hint=f"See {self.documented}.",
                path="client",
            )
        home = env.get("HOME") or str(Path.home())
        at = written.replace("~", home, 1).replace("%APPDATA%", env.get("APPDATA", ""))
        chosen = env.get("CODEX_HOME") if self.key == CODEX_KEY else None
        return Path(chosen) / "config.toml" if chosen else Path(at)

    def entry(self, command: str, words: list[str]) -> dict[str, Any]:
        """How a server is started."""
        kind = {"type": "stdio"} if self.says_type else {}
        return {**kind, "command": command, "args": words}


CODEX_KEY = "mcp_servers"
_CODE = "Code/User/mcp.json"
CLIENTS: dict[str, McpClient] = {
    "claude-code": McpClient(
        "Claude Code",
        {"": "~/.claude.json"},
        ".mcp.json",
        says_type=True,
        documented="https://code.claude.com/docs/en/mcp",
        afterwards="Close Claude Code first: it writes the user's file itself.",
    ),
    "claude-desktop": McpClient(
        "Claude Desktop",
        {
            "darwin": "~/Library/Application Support/Claude/claude_desktop_config.json",
            "win32": "%APPDATA%/Claude/claude_desktop_config.json",
        },
        is_desktop=True,
        documented="https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    ),
    "cursor": McpClient(
        "Cursor",
        {"": "~/.cursor/mcp.json"},
        ".cursor/mcp.json",
        is_desktop=True,
        documented="https://cursor.com/docs/mcp",
    ),
    "vscode": McpClient(
        "VS Code",
        {
            "linux": f"~/.config/{_CODE}",
            "darwin": f"~/Library/Application Support/{_CODE}",
            "win32": f"%APPDATA%/{_CODE}",
        },
        ".vscode/mcp.json",
        key="servers",
        is_desktop=True,
        says_type=True,
        documented="https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
    ),
    "codex": McpClient(
        "Codex",
        {"": "~/.codex/config.toml"},
        key=CODEX_KEY,
        documented="https://developers.openai.com/codex/mcp",
    ),
    "gemini": McpClient(
        "Gemini CLI",
        {"": "~/.gemini/settings.json"},
        ".gemini/settings.json",
        documented="https://geminicli.com/docs/tools/mcp-server",
    ),
    "windsurf": McpClient(
        "Windsurf",
        {"": "~/.codeium/windsurf/mcp_config.json"},
        is_desktop=True,
        documented="https://docs.windsurf.com/windsurf/cascade/mcp",
    ),
}


def client_named(name: str) -> McpClient:
    """By its name in the table."""
    if name in CLIENTS:
        return CLIENTS[name]
    close = nearest(name, list(CLIENTS))
    hint = f"Did you mean {' or '.join(close)}?" if close else f"There are {', '.join(CLIENTS)}."
    raise InvalidAction(f"CLIENT: {name[:60]!r} is not known", path="client", hint=hint)
