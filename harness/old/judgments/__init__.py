"""Judgment and vote files: their names, their rows, and their contents as columns of observations.

file_name.py      JUDGE@SET[#n]_{single|pair|pair1}.jsonl, written and parsed
judgment.py       match, verdict, judgment
line.py           decodes a line: the only place that knows the fields of a judgment or a vote
game_scores.py    the scores of each side, of pairs whose judge gave each answer one
case.py           what rows share, and the joint outcome of a pair's games
observations.py   a million observations as columns
reading.py        files -> observations, block by block; parts.py reads a large one in several processes
writing.py        a judgment as the row that is written
row.py            one row with its texts, for viewing, resuming and exporting
"""
