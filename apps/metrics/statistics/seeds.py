"""The seed where nobody names one: one for every bootstrap, randomisation test and draw that tells of stored data.

What is stored with a seed of its own (the plan of a round, a pool, a split, an index) has its default beside its model.
"""

DEFAULT_SEED = 20
