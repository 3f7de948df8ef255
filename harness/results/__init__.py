"""From judgments to numbers. Nothing here prints, calls or writes; one idea a file, each opening with its formula.

reading/       judgment and vote files as columns and arrays
    lines.py, parts.py       lines of a judgment file, decoded with types; large files in two processes
    columns.py, read.py      a million ratings or pairs as columns; what must not be mixed
    kinds.py                 what the rows of a file hold: one grade, a label, several dimensions
    select.py, sources.py    which file, judge and questions a table or a report is about
    arrays.py                grades and pairs as arrays, questions first
statistics/    what is not about judgments in particular
    bootstrap.py             intervals from resampling questions
    signflip.py, paired.py   two models on the same questions: exact test, Holm, power
    ranks.py                 the ranks that a model may have
    rounding.py              numbers as people read them
grades/        single answers
    single.py                FastChat's means by turn and their average
    scores.py                means, groups and the drop in turn 2, with intervals
pairs/         two answers compared
    pairwise.py, rates.py    win, loss, tie as FastChat counts them; the same with intervals
    matrix.py                each model against each other one; the mean over opponents
    bradley_terry.py         strengths, with ties
    games.py, existence.py, davidson.py   their counts, whether there is an estimate, the fit
labels/        answers that were labelled
    shares.py, short_facts.py, calibration.py   how often each label; right of those attempted; does confidence fit
    read.py, table.py        rows with labels, and the table that show_result prints
criteria/      answers graded by several criteria, or on several dimensions
    read.py, table.py        rows with dimensions; the mean of each, by model and group
judges/        what the judge is worth
    position.py              whether it goes by the place of an answer
    agreement.py, graded_agreement.py, labels.py   with people and other judges: verdicts, grades, labels
    preferences.py           grades as preferences, to compare with votes on pairs
    length.py, repeat.py, self_preference.py   longer answers, repeats, its own family
    ranking.py               our order against another one
    corrected.py             win rates corrected by votes
    panel.py, panel_table.py, verdict_panel.py   several judges, each alone and all together
    report.py, models_report.py, votes_report.py   what judge_report shows
verdict_tables.py   which of these tables judged answers belong in
show.py, result.py   what show_result shows; brief.py on its first screen, detail.py and pair_detail.py with --intervals
"""
