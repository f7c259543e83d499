"""Runs scored on versions: leaderboard, comparisons, drops, cost, trend, ledger."""
