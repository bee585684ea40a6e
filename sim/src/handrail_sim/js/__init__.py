"""A small JavaScript: enough of the language to run what debuggers send to an app's JS thread.

Functions, closures, objects with prototypes and accessors, arrays, maps, sets, promises, templates, spread,
destructuring, regular expressions as Python knows them. No classes, generators, async functions or modules.
Knows no phone and no clock: the realm is given its globals.
"""
