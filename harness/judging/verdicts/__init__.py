"""How a judge's text is understood, piece by piece; `harness.judging.parse` puts the pieces together.

brackets.py   what one bracket says, for each verdict format
shown.py      what the text says, and what it only shows
voice.py      whose voice a bracket stands in
mentions.py   each bracket with its surroundings understood
"""
