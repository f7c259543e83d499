"""How far grades and reviewers agree, by person, pair, query and week."""
