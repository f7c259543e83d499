"""Gates: named rules that the scores, the speed and the cost of a run are held to.

A rule is a value (`rule`), read from a TOML file and written to one (`gates.formats`), or read from facts that
`as_facts` wrote, and decided on plain arrays (`decisions`). `karat eval` and the app word the same evidence in the same
sentence.
"""
