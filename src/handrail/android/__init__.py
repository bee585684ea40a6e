"""The surface of an Android device: screens, input, apps, state, logs, files. Reached through `adb` alone."""
