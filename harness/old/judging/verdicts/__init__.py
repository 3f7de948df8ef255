"""How a judge's text is understood, piece by piece; `harness.old.judging.parse` puts the pieces together.

brackets.py   what one bracket says, for each verdict format
shown.py      what the text says, without what it only shows
mentions.py   the rule: one verdict, by its form and its place
objects.py    JSON objects and lists, read tolerantly

marked.py     `[RESULT] n`, `[RESULT] A|B`, `grade`
labels.py     `label`: in an object, or as whole words
several.py    `dimensions`, `two_scores`
ranking.py    `ranking`, `preference`, and the patterns of foreign sets
stated.py     a verdict written in a form, for examples and built-in judges
structured.py a reply that follows a JSON schema
likelihood.py verdicts weighed by log-probabilities
"""
