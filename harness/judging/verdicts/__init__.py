"""How a judge's text is understood, piece by piece; `harness.judging.parse` puts the pieces together.

brackets.py   what one bracket says, for each verdict format
shown.py      what the text says, and what it only shows
voice.py      whose voice a bracket stands in
mentions.py   each bracket with its surroundings understood
objects.py    JSON objects and lists, read tolerantly, and whether the judge says them

marked.py     `[RESULT] n`, `[RESULT] A|B`, `grade`: made into brackets
labels.py     `label`: in an object, or whole words made into brackets
several.py    `dimensions`, `two_scores`
ranking.py    `ranking`, `preference`, and the patterns of foreign sets
structured.py a reply that follows a JSON schema
likelihood.py verdicts weighed by log-probabilities
"""
