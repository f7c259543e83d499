"""Append-only events and the hash chain that seals them."""
