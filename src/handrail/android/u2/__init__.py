"""The u2 channel: the automation server of the `uiautomator2` package, run by app_process, no APK needed."""

from handrail.android.u2.channel import open_u2

__all__ = ["open_u2"]
