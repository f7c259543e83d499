"""Coefficients of agreement between annotators, on NumPy arrays.

Ratings are a matrix of items by raters, with positions in the list of categories, and `MISSING` for no rating. Every
coefficient is a function of how often each pattern of ratings occurs. That makes the bootstrap over items one
multinomial draw of those counts, for any number of items.

An undefined coefficient has a reason as a sentence and no value; it is never 1.0 and never an exception.
"""
