"""The seam between the engine and what it acts on: protocols and values, and no code that acts.

A surface is a phone over adb, the desk, later a browser. Nothing above knows which; nothing here knows any.
"""
