"""Why a rule cannot be decided, in one word that a machine can act on. The sentence beside it is for people."""

NO_QUERIES = "no_queries"
FEW_QUERIES = "few_queries"
NO_VALUES = "no_values"
NO_TIMES = "no_times"
NO_COST = "no_cost"
NO_BASELINE = "no_baseline"
OTHER_TEXTS = "other_texts"
OFF_SCALE = "off_scale"
GAPS = (NO_QUERIES, FEW_QUERIES, NO_VALUES, NO_TIMES, NO_COST, NO_BASELINE, OTHER_TEXTS, OFF_SCALE)
