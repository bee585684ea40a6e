"""The Android emulator's gRPC channel: touches of two fingers, keys, clipboard, pictures."""

from handrail.android.emulator.channel import open_emulator

__all__ = ["open_emulator"]
