"""Columns of text packed into arrays: what is read, numbered and compared a million rows at a time."""
