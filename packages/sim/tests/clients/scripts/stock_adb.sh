#!/bin/sh
# Stock adb, each command as a person types it. Called with ADB, SERIAL and the folder WORK.
set -eu
adb() { "$ADB" -s "$SERIAL" "$@"; }
did() { echo "did: $*"; }
want() { case "$1" in *"$2"*) ;; *) echo "wanted $2, got $1" >&2; exit 1 ;; esac }

want "$(adb get-state)" device
want "$(adb shell getprop sys.boot_completed)" 1
want "$(adb shell 'exit 3' || echo $?)" 3
did state, getprop, exit codes
printf 'hello\n' > "$WORK/a.txt"
adb push "$WORK/a.txt" /data/local/tmp/a.txt > /dev/null
adb pull -z any /data/local/tmp/a.txt "$WORK/b.txt" > /dev/null
cmp "$WORK/a.txt" "$WORK/b.txt"
did push, pull -z any
want "$(adb install "$APK")" Success
want "$(adb shell pm list packages -3)" org.example.lamp
want "$(adb shell am start -W -n org.example.lamp/.Main)" "Status: ok"
want "$(adb exec-out uiautomator dump /dev/tty)" "Lamp"
want "$(adb install-multiple -r "$APK" "$SPLIT")" Success
want "$(adb shell pm path org.example.lamp)" split_config.en.apk
want "$(adb uninstall org.example.lamp)" Success
did install, start, show the label, install-multiple, uninstall
adb shell monkey -p com.handrail.notes 1 > /dev/null
pid=$(adb shell pidof com.handrail.notes)
want "$(timeout 2 "$ADB" -s "$SERIAL" jdwp || true)" "$pid"
want "$(timeout 2 "$ADB" -s "$SERIAL" track-app || true)" "pid: $pid"
did jdwp, track-app
want "$(adb shell am instrument -w org.example.nothing/.Runner 2>&1 || true)" INSTRUMENTATION_FAILED
did am instrument of nothing
want "$(adb forward tcp:0 localabstract:nobody)" ""
adb forward --remove-all
adb reverse tcp:16099 tcp:16099 > /dev/null
want "$(adb reverse --list)" tcp:16099
adb reverse --remove-all
did forward, reverse
[ "$(adb exec-out screencap -p | head -c 8 | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
want "$(adb logcat -d -t 5 2>&1 | wc -l | tr -d ' ')" ""
did screencap, logcat
if [ "$(adb shell getprop ro.debuggable)" = 1 ]; then
  want "$(adb root)" "as root"
  "$ADB" -s "$SERIAL" wait-for-device
  want "$(adb shell id)" "uid=0(root)"
  want "$(adb unroot)" "as non root"
  did root and unroot
else
  want "$(adb root)" "production builds"
  did root is refused
fi
