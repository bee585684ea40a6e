"""Ways into the phone besides adb's commands: u2, the HTTP helper, mobilecli, the emulator's doors."""
