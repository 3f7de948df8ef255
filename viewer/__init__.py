"""The web viewer: Board, Questions, Verdicts, Judges, Vote; every verdict within two clicks.

index.py         one SQLite file: where every row is, by file and by question
data.py          what the tabs read: benchmarks, scores, answers, judgments
state.py         a view as its address
board.py         questions.py  verdicts.py  judges.py  vote.py: the tabs; each returns HTML
conversation.py  one question opened
ballots.py       what a voter is asked, and the file of votes
text.py          texts of models as safe HTML
pages.py         templates/, page.js, style.css: how HTML is made
app.py           the Gradio app; server.py: whom it answers
export.py        static pages; ballot_page.py: one page to vote on
"""
