"""Results in other projects' forms.

    export.py                what counts → a format's files → written (`turnbench export`)
    the others               a function for each format: (bench, results) → files

Every format starts at what `show_result` shows: rows that are not current are in none. A further
format is one more function and its line in the registry, or an entry point of another package.
"""
