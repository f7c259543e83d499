"""Runs measured against the blocks that people expect: what is a hit, and the measures by hits.

`rules` says what a hit is, `questions` what is asked, expected and returned; `evidence` compares words, `hits` finds
the hits of a run, and `measures` turns them into values for each question.
"""
