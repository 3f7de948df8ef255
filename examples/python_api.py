"""The demo from Python: built-in models answer, a built-in judge grades, the result is shown.

python examples/python_api.py [DATA_DIR]      (default: demo, the folder of `make demo`)
"""

import sys

import harness


def main(data_dir: str = "demo") -> None:
    """Answer, judge, show; whatever an earlier run has done is taken as it is."""
    report = harness.check_bench("mt_bench", data_dir)
    print(f"{len(report.questions)} questions, {len(report.problems)} problems in them")
    models = ["builtin/reference", "builtin/outline", "builtin/eliza"]
    answered = harness.gen_answer(models, data_dir=data_dir)
    print(f"{answered.outcome.done} answers written")

    for mode in ("single", "pairwise-all"):
        judged = harness.gen_judgment("builtin/overlap", mode=mode, data_dir=data_dir)
        print(f"{judged.outcome.done} judgments written")
        for cause in judged.outcome.causes():
            print(f"failed: {cause}")

    pairs = harness.show_result("pairwise-all", data_dir=data_dir)
    for row in pairs.rows():
        print(f"{row['model']:20} won {row['win']}, tied {row['tie']}, lost {row['loss']}")

    both = harness.show_result(data_dir=data_dir)
    print(both.page.outcome)
    harness.write_html(f"{data_dir}/report.html", both.page)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:2])
    except harness.TurnbenchError as error:
        sys.exit(f"python_api: {error}")
