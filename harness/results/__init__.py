"""From judgments to numbers: read, choose, sum up. Nothing here prints, calls or writes.

read.py      judgment and vote files -> records; what must not be mixed
single.py    grades -> a row for each model
pairwise.py  pairs -> win, loss, tie for each model
show.py      all of it together: show_result
"""
