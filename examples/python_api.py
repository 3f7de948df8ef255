"""The demo from Python: built-in models answer, a built-in judge grades, tables are printed.

python examples/python_api.py [DATA_DIR]      (default: demo, the folder of `make demo`)
"""

import sys

import harness


def main(data_dir: str = "demo") -> None:
    """Answer, judge, show; whatever an earlier run has done is taken as it is."""
    problems = harness.check_bench("mt_bench", data_dir).problems
    print(f"{len(problems)} problems in the questions")
    models = ["builtin/reference", "builtin/outline", "builtin/eliza"]
    with harness.tqdm_watch(unit="answer") as watch:
        answered = harness.gen_answer(models, data_dir=data_dir, watch=watch)
    print(f"{answered.written} answers written")

    for mode in ("single", "pairwise-all"):
        judged = harness.gen_judgment(
            "builtin/overlap", mode=mode, judge_set="mt_bench", data_dir=data_dir
        )
        print(f"{judged.written} judgments written, {judged.unparsed} of them without a verdict")
        for failure in judged.tally.failures:
            print(f"failed: {failure.key}: {failure.message}")

    single = harness.show_result("single", data_dir=data_dir)
    for row in single.rows():
        print(f"{row['model']:20} average {row['average']:.2f} over {row['n']} grades")

    pairs = harness.show_result("pairwise-all", data_dir=data_dir)
    for row in pairs.rows():
        print(f"{row['model']:20} won {row['win']}, tied {row['tie']}, lost {row['loss']}")
    print(pairs.page.outcome)

    both = harness.show_result(data_dir=data_dir)
    harness.write_html(f"{data_dir}/report.html", both.page)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:2])
    except harness.TurnbenchError as error:
        sys.exit(f"python_api: {error}")
