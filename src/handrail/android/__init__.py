"""An Android device as a surface, reached through adb."""
