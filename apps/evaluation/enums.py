STRATA = {"domain": "Domain", "query_type": "Type", "difficulty": "Difficulty", "source": "Source"}
"""The fields of a query by which scores are told apart, in the order of the pages."""
