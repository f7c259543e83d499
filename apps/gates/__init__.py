"""Rules that a system must meet, their history, rule files, badge and messages."""
