"""Verdicts, disputes, resolutions, and who may see what of them."""
