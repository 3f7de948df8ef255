"""The commands: each has a module with `run(record, console)`.

main.py     `turnbench`, and every command by its name     command.py   what is done around each
parser.py   a parser from an options record                calls.py     calls to chat models
"""

COMMANDS = (
    *("gen_answer", "gen_judgment", "show_result", "viewer", "run_bench", "status"),
    *("judge_report", "auto_checks", "auto_metrics", "show_judge_set", "check_bench"),
    *("fetch_bench", "import_data", "export", "new_questions", "plan", "prove", "init"),
)
SCRIPTS = ("gen_answer", "gen_judgment", "show_result", "run_bench", "viewer")
"""Those that are on PATH by their own names as well."""


def command_words(name: str) -> str:
    """Return how a command is called.

    >>> command_words("gen_answer"), command_words("status")
    ('gen_answer', 'turnbench status')
    """
    return name if name in SCRIPTS else f"turnbench {name}"
