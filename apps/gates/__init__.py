"""Rules that a system must meet, their results, rule files, badges and notifications."""
