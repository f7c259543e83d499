"""Retrieval measures and their values for a run: all measures in one pass over integer columns.

The conventions are trec_eval's (version 10, with `-c`): rows by score descending, ties by block id descending, the rank
column ignored; every judged query counts, and one that is missing from the run is scored as an empty ranking, which is
zero for all but FailureRate, AbstentionRate and FalseAbstentionRate; a block without a judgement is not relevant; a
negative grade marks a block of the pool that was not judged.

`entries` defines what a measure is, `registry` lists the measures and parses them; `measure_input` is the run that they
share; the other modules compute the values, a family each.
"""
