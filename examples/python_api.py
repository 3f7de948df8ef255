"""The demo from Python: built-in models answer, a built-in judge grades, tables are printed.

python examples/python_api.py [DATA_DIR]      (default: demo, the folder of `make demo`)
"""

import pathlib
import sys

import harness


def main(data_dir: str = "demo") -> None:
    """Answer, judge, show; whatever an earlier run has done is taken as it is."""
    problems = harness.check_bench("mt_bench", data_dir).problems
    print(f"{len(problems)} problems in the questions")
    models = ["builtin/reference", "builtin/outline", "builtin/eliza"]
    answered = harness.gen_answer(models, data_dir=data_dir)
    print(f"{answered.outcome.done} answers written")

    for mode in ("single", "pairwise-all"):
        judged = harness.gen_judgment("builtin/overlap", mode=mode, data_dir=data_dir)
        unread = judged.unread().total()
        print(f"{judged.outcome.done} judgments written, {unread} of them without a verdict")
        for cause in judged.outcome.causes():
            print(f"failed: {cause}")

    single = harness.show_result("single", data_dir=data_dir)
    for row in single.rows():
        print(f"{row['model']:20} average {row['average']:.2f} over {row['n']} grades")

    pairs = harness.show_result("pairwise-all", data_dir=data_dir)
    for row in pairs.rows():
        print(f"{row['model']:20} won {row['win']}, tied {row['tie']}, lost {row['loss']}")
    harness.write_html(pathlib.Path(data_dir) / "report.html", pairs.page)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:2])
    except harness.TurnbenchError as error:
        sys.exit(f"python_api: {error}")
