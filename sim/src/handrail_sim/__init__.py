"""A phone in memory that speaks ADB. Reached by sockets only; nobody but `runtime` and `cli` imports it."""
