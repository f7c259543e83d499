"""Gates: named rules on the scores, speed and cost of a run.

A rule is a value (`rule`), read from a TOML file and written to one (`gates.formats`), or read from the facts that
`as_facts` writes, and decided on plain arrays (`decisions`). `karat eval` and the app give the same sentence for the
same evidence.
"""
