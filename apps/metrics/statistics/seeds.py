"""The default seed of every bootstrap, randomisation test and sample over stored data.

What is stored with a seed of its own (the plan of a round, a pool, a split, an index) has its default in its model's
module.
"""

DEFAULT_SEED = 20
