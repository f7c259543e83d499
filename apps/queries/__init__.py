"""Queries, their sources and permissions, strata and balance."""
