STRATA = {"domain": "Domain", "query_type": "Type", "difficulty": "Difficulty", "source": "Source"}
"""The fields of a query for which scores are shown by stratum, in the order of the pages."""

RUN_AGAIN = "evaluation.run_again"
"""The job kind that runs systems again for a version on a newer snapshot, and scores the runs."""
