"""Agreement between annotators and between reviewers, by person, pair, query and week."""
