"""The web viewer: every verdict within two clicks. A Gradio app in which every view has a URL.

    address bar ─▶ State ─▶ one tab's show(state) ─▶ HTML of links and forms, whose targets are addresses

state.py       the view as a URL's query, and back
context.py     the interface of a tab
store.py       the files behind it: benchmarks, answers, judgments, results; read when shown
places.py      where in a file the rows of a question are
later.py       background work, with its latest results
text.py        text of models and people as safe HTML, within limits of size and time
styling.py     Markdown and code formatted; maths.py: the formulas in it
limited.py     calls in a separate process, ended when one takes too long; for later.py, search.py, styling.py
markup.py      the parts that pages are made of: links, forms, tables, chips, notices
tabs/         one module for each tab: leaderboard, answers, compare, find, judge, vote, runs
index.py       all judgments as columns of numbers; filters.py, search.py: which of them Find shows
stepping.py    from one match of Find to the next; strips.py: verdicts and questions above the texts
rows.py        the rows behind a page as JSON; people.py: votes that may be shown
votes.py       the items to vote on, and where votes are stored; agreement.py: judges compared with votes
growth.py      how fast a file grows, and its new rows; past_runs.py: the runs that wrote it, and how two differ
app.py         the tabs put together
serving.py     the server: address, users and allowed requests; idle.py: idle connections
style.css, page.js   the style; how a click becomes a URL

It computes nothing that `harness.old.results` can, and writes nothing but votes.
"""
