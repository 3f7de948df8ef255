"""What a judge is worth, and what its verdicts can be trusted for; one file a question, each opening with its formula.

report.py               position (see results/pairs/position.py), length, repeat
length.py               whether it favours the longer answer
repeat.py               whether it would say the same again
self_preference.py      whether it favours the models of its own family
ranking.py              its order of the models against another one
agreement.py, graded_agreement.py, label_agreement.py   with people and other judges
preferences.py          grades as preferences, to compare with votes on pairs
checks.py               whether it sees the broken checks that a program sees
reference.py            what it takes for right with the reference and without it
corrected.py            win rates corrected by votes
attacks.py, attacking.py, attack_effects.py   what attacks planted into weak answers gain
report.py, models_report.py, votes_report.py  what judge_report shows
"""
