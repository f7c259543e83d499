"""Gold sets, versions, splits, freeze checks, exports and their verification."""
