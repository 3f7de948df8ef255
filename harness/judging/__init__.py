"""From answers to judgments: plan matches, render prompts, ask judges, read verdicts.

    plan = plan_judgments(bench, options)     resolves names and keys; calls nothing
    running.run(plan.jobs(), options.limits, state=bench.state, total=plan.total)

sets.py         judge sets of TOML, and the rule that picks a template
fastchat.py     FastChat's prompt files
forms.py        the form of a verdict; a scale and its words
templates.py    placeholders, the fence around answers
prompts.py      what a judge is sent about a match, and its hashes; preview.py: without sending
plan.py         what is done, what is left; run.py: all of it together
judge.py        one match as a job
verdicts.py     what a reply says: objects.py in JSON, likelihood.py by likely tokens
extraction.py   the answer in a JSON reply
builtin.py      judges that need no model; overlap.py: what one of them counts
"""
