"""Verdicts, disputes, resolutions, and who sees what of them."""
