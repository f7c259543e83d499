STRATA = {"domain": "Domain", "query_type": "Type", "difficulty": "Difficulty", "source": "Source"}
"""The fields of a query for which scores are shown by stratum, in the order of the pages."""
