"""How good a judge is: one report a file, each opening with its formula.

position    does the order change the verdict          agreement   with people, with other judges
length      does the longer answer win                 repeat      the same judge asked again
reference   wrong answers without a reference          checks      what a program finds
attack      answers that say what to say               wording     paraphrases of the prompt
corrected   people's win rates, from both              judges      which judge to choose
worth       independent judges in a panel

data.py reads verdicts and votes, estimates.py has means with errors, truth.py which answers are
right.
"""
