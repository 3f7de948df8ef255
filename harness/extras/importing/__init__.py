"""Other projects' files in.

    items.py, records.py     what a record becomes; the files that hold records
    reading.py               all of it: files → a benchmark folder (`import_data`)
    judge_files.py           AlpacaEval's evaluators and ColossalAI's prompts as judge sets
    evaluation.py            ColossalAI's configuration: criteria and metrics by category
    originals.py, originals.toml, constants.py   published files on request (`fetch_bench`)
    the others               a function for each format: record → Item

A further format is one more function and its line in the registry.
"""
