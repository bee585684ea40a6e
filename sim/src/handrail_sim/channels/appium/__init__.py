"""Appium's server on the phone. Its parts follow."""
