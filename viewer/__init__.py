"""The web viewer: every verdict within two clicks. A Gradio app whose every view is an address.

    address bar ─▶ State ─▶ one tab's show(state) ─▶ HTML of links and forms, whose targets are addresses

state.py       what the address bar holds, and back
context.py     what a tab is, and what it is given
store.py       the files behind it: benchmarks, answers, judgments, results; read when shown
places.py      where in a file the rows of a question are
later.py       what takes long, done beside the page, and kept as it was made last
text.py        text of models and people as safe HTML, within limits of size and time
styling.py     Markdown and code laid out; maths.py: the formulas in it
limited.py     calls in a process of its own, ended when one takes too long; later.py, search.py, styling.py make them
markup.py      the parts that pages are made of: links, forms, tables, chips, notices
tabs/         one module for each tab: leaderboard, answers, compare, find, judge, vote, runs
index.py       all judgments as columns of numbers; filters.py, search.py: which of them Find shows
stepping.py    from one thing that Find found to the next; strips.py: verdicts and questions above the texts
rows.py        the rows behind a page as JSON; people.py: votes that may be shown
votes.py       what a voter is asked, and where votes go; agreement.py: judges beside votes
growth.py      how fast a file grows, and what that adds; past_runs.py: the runs that wrote it, and how two differ
app.py         the tabs put together
serving.py     how it is served: where, to whom, and what can be asked for; idle.py: connections that ask nothing
style.css, page.js   how it looks; how a click becomes an address

It computes nothing that `harness.results` can, and writes nothing but votes.
"""
