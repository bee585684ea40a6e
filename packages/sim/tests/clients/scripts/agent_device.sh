#!/bin/sh
# agent-device: devices, open, snapshot, press by ref, fill, scroll, screenshot, replay. It leaves a daemon in
# HOME, which is ended at last. Called with AGENT_DEVICE (its .mjs file), SERIAL and the folder WORK.
set -eu
agent() { node "$AGENT_DEVICE" "$@"; }
finish() {
  for file in "$HOME/.agent-device/daemon.json" "$WORK"/replay/daemon.json; do
    [ -f "$file" ] && kill "$(node -p "require('$file').pid")" 2>/dev/null || true
  done
}
trap finish EXIT
did() { echo "did: $*"; }
want() { case "$1" in *"$2"*) ;; *) echo "wanted $2, got $1" >&2; exit 1 ;; esac }
ref() { agent snapshot -i | sed -n "s/^ *\(@e[0-9]*\) .*\"$1\".*/\1/p" | head -1; }

want "$(agent devices --platform android)" "booted=true"
want "$(agent open com.google.android.contacts --platform android --serial "$SERIAL")" "Opened"
want "$(agent snapshot -i)" "Create new contact"
did devices, open, snapshot
before=$(agent snapshot -i)
want "$(agent scroll down)" "Scrolled"
[ "$before" != "$(agent snapshot -i)" ]
did scroll
want "$(agent press "$(ref 'Create new contact')")" "Tapped"
want "$(agent fill "$(ref 'First name')" 'Agnes Device')" "Filled"
want "$(agent snapshot -i)" "Agnes Device"
want "$(agent find Save click)" "Tapped"
did press by ref, fill, find
want "$(agent screenshot "$WORK/agent.png")" "1080x2400"
did screenshot
agent close > /dev/null
printf 'open com.android.settings\nwait 200\nclick "text=\\"Display\\""\n' > "$WORK/flow.ad"
want "$(agent replay "$WORK/flow.ad" --platform android --state-dir "$WORK/replay")" "Replayed 3 steps"
did replay
echo "client: agent-device $(agent --version)"
