"""Documents of scores and versions as HTML and Markdown; bias and stability analyses, negatives."""
