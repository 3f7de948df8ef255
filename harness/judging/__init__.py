"""From answers to judgments: plan matches, render prompts, call the judge, parse verdicts.

    sets/         judge sets: folders of TOML, or the prompt files of FastChat, ColossalAI and AlpacaEval
    forms.py      what a template says about the verdict that it asks for
    template.py   placeholders, filled in one pass; the fence around answers
    gathering.py  the answers, references and texts that matches need, or what is missing
    planned.py    which matches there are, and what a run will do, judge by judge
    materials.py  what a match is judged on, and the request made of it
    neutral.py    answers made harmless for a prompt
    extraction.py   the answer inside a reply that was asked for as JSON
    filling.py    what fills a template: the turns, fenced, and beside them notes and outcomes of checks
    parse.py      a judge's words -> verdict, with the reason
    judge.py      the judging of one match, as a job; work.py: a plan's jobs, their files open
    prompts.py    the messages that would be sent, without sending them
    files.py      judgment files: what is done, and where records go
    run.py        all of it together: plan_judgments, run_judgments
    builtin.py    the names of the built-in judges; overlap.py (with features.py), rules.py and builtin_model.py are
                  those themselves

Nothing outside this room knows a verdict format.
"""
