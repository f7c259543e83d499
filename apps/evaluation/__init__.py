"""Runs scored on versions: leaderboard, comparisons, drops, costs, trends, ledger."""
