"""From observations to numbers. Nothing here prints, calls or writes; one idea a file, each opening with its formula.

what is shown about   query.py: what is asked; finding.py: its observations; about.py: whose questions they are
what of it counts     answers.py, replaced.py, common.py, failures.py
arrays                matrix.py: questions x models; measured.py: metrics without a judge
statistics/           intervals (bootstrap.py), tests (paired.py, signflip.py), ranks
grades/, pairs/, labels/, criteria/   each kind's numbers; their first lines say which
what show_result shows   show.py, wanted.py, result.py; brief.py; detail.py and pair_detail.py with --intervals
several judges        panel.py, panel_table.py, verdict_panel.py; panel_result.py shows them
before a run          planning.py: what questions and samples would show
two runs, and more    runs.py, settings.py, first_turn.py, styled.py, standing.py, users.py, cost.py, efficiency.py
"""
