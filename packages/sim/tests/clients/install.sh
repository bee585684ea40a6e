#!/bin/sh
# Installs the clients that test_clients.py tries into the folder that is given; nothing else is touched.
# Needs python3 and npm. Then: SIM_CLIENTS=FOLDER pytest tests/clients
set -eu
mkdir -p "$1"
cd "$1"
for pair in airtest:airtest android-env:android-env ppadb:pure-python-adb adb-shell:adb-shell pymobiledevice3:pymobiledevice3; do
  [ -d "${pair%%:*}" ] || python3 -m venv "${pair%%:*}"
  "${pair%%:*}/bin/pip" install -q "${pair#*:}"
done
if [ ! -d facebook-wda ]; then
  python3 -m venv facebook-wda
  facebook-wda/bin/pip install -q facebook-wda Appium-Python-Client pytest jsonschema lxml
  facebook-wda/bin/pip download -q --no-deps --no-binary :all: -d facebook-wda facebook-wda
  tar -xzf facebook-wda/facebook*.tar.gz -C facebook-wda
fi
npm_client() {
  folder=$1
  shift
  mkdir -p "$folder"
  (cd "$folder" && { [ -f package.json ] || npm init -y > /dev/null; } && npm install --no-audit --no-fund "$@")
}
npm_client adbkit @devicefarmer/adbkit
npm_client appium-adb appium-adb
npm_client appium appium appium-uiautomator2-driver webdriverio node@22
npm_client agent-device agent-device node@22
npm_client mobile-mcp @mobilenext/mobile-mcp
npm_client go-ios go-ios --ignore-scripts  # its script would put a program into the system
npm_client appium-ios appium appium-xcuitest-driver node@22
