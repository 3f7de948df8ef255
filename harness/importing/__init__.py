"""Other projects' data: fetched, made benchmark folders of, and our judgments back in the shape of theirs.

    records.py     a file of records (JSON array, JSON Lines, CSV) as a stream, bad ones with their position
    items.py       what one record becomes: a question, its reference, answers, votes
    one file for each format: feedback_collection.py, preference_collection.py, colossalai.py, alpaca_eval.py,
    battles.py, short_facts.py, ifeval.py, multi_if.py, dialogues.py
    folder.py      the benchmark folder, written beside its place and put there when it is whole
    run.py         all of it together; answers.py: answers alone, to questions that are there
    back.py        judgments as training records of the Feedback Collection
    originals/     published benchmarks and judge sets on request: pinned files, fetched and verified

A further format is one more file with a function from a record to an `Item`, and its line in `run.FORMATS`.
"""
