"""The next edition of a corpus: what changes, what it touches, and taking it with the grades that were earned."""
