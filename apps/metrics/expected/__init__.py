"""Runs measured against the blocks that people expect: what is a hit, and the measures by hits.

`rules` says what is asked, expected and returned, and what a hit is; `hits` compares words and finds the hits of a run,
and `measures` turns them into values for each question.
"""
