"""From observations to numbers. Nothing here prints, calls or writes; one idea a file, each opening with its formula.

what is shown about   query.py: what is asked; finding.py: its observations; about.py: whose questions they are
what of it counts     answers.py, replaced.py, common.py, failures.py
arrays                matrix.py: questions x models; measured.py: metrics without a judge
statistics/           intervals (bootstrap.py), tests (paired.py, signflip.py), ranks
arrays -> one table   table.py: a line for each model, judge, group or turn, a number in each column
                      grades/, pairs/, means.py (criteria, dimensions, metrics), labels.py; panel.py for several judges
what show_result shows   wanted.py, show.py, tables.py, standing.py -> result.py; detail.py with --intervals
before a run          planning.py: what questions and samples would show
two runs, and more    runs.py, settings.py, first_turn.py, styled.py, users.py, cost.py, efficiency.py
"""
