"""Append-only events, and the hash chains that seal them."""
