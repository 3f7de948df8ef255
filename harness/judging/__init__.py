"""From answers to judgments: plan matches, render prompts, call the judge, parse verdicts.

    sets.py       judge sets: folders of TOML, or FastChat's judge_prompts.jsonl
    template.py   placeholders, filled in one pass; the fence around answers
    plan.py       which matches there are
    materials.py  what a match is judged on, and the request made of it
    parse.py      a judge's words -> verdict, with the reason
    judge.py      the judging of one match, as a job
    files.py      judgment files: what is done, and where records go
    run.py        all of it together: plan_judgments, run_judgments
    overlap.py    the built-in judge

Nothing outside this room knows a verdict format.
"""
