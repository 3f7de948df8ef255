"""From answers to judgments: plan matches, render prompts, call the judge, parse verdicts.

    sets/         judge sets: folders of TOML, or the prompt files of FastChat, ColossalAI and AlpacaEval
    forms.py      the form of the verdict that a template asks for
    template.py   placeholders, filled in one pass; the fence around answers
    gathering.py  the answers, references and texts that matches need, or what is missing
    planned.py    the matches, and the plan of a run for each judge
    materials.py  what a match is judged on, and the request made of it
    neutral.py    answers made harmless for a prompt
    extraction.py   the answer inside a reply in JSON
    filling.py    the values of placeholders: fenced turns, notes and outcomes of checks
    parse.py      a judge's text -> verdict, with the reason
    judge.py      the judging of one match, as a job; work.py: a plan's jobs, their files open
    prompts.py    the messages that would be sent, without sending them
    files.py      judgment files: what is done, and where records go
    run.py        all of it together: plan_judgments, run_judgments
    builtin.py    the names of the built-in judges; overlap.py (with features.py), rules.py and builtin_model.py
                  implement them

Nothing outside this room knows a verdict format.
"""
