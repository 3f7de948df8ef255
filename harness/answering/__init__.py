"""Questions × models → answers: conversations as jobs, and what is done already.

plan = plan_answers(bench, options)     resolves names and keys; calls nothing
running.run(plan.jobs(), options.limits, state=bench.state, total=plan.total)

plan.py          what is done, what is left     sampling.py   with what it is sampled
conversation.py  one conversation               users.py      who plays the user
"""
