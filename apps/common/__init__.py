"""Helpers that know no other app: database guards, files, text, drawing, web."""
