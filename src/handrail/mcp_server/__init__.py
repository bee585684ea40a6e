"""The MCP door: tools as projections of the vocabulary, answers that are cheap to read, honest errors."""
