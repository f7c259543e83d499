"""Gates: named rules that the scores, the speed and the cost of a run are held to.

A rule is a value (`rule`), read from a TOML file and written to one (`files`), or read from facts that `as_facts`
wrote, and decided on plain arrays (`deciding`). `karat eval` and the app say the same sentence about the same evidence.
"""
