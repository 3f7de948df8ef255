"""How often judges agree with the expert votes of MT-Bench, and what both say of the models.

    python -m benchmarks.judge_agreement FOLDER

FOLDER holds the published files (CC-BY-4.0, Zheng et al. 2023): `question.jsonl`, `model_answer/`,
`reference_answer/`, `human_judgment/human.jsonl` and `gpt4_pair.jsonl`, and in `model_judgment/`
the grades of GPT-4. The built-in judges compare the pairs of five models that experts voted on.
"""

import pathlib
import shutil
import sys
import tempfile

import harness
from harness.options import JudgeReport, build
from harness.registry import find

MODELS = ("gpt-4", "claude-v1", "gpt-3.5-turbo", "alpaca-13b", "llama-13b")
JUDGES = ("builtin/overlap", "builtin/longest")


def experts(published: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Copy what is needed to `folder`; return the experts' votes on the five models."""
    for name in ("reference_answer", "human_judgment"):
        shutil.copytree(published / name, folder / name)
    shutil.copy(published / "question.jsonl", folder)
    (folder / "model_answer").mkdir()
    for model in MODELS:
        shutil.copy(published / "model_answer" / f"{model}.jsonl", folder / "model_answer")
    votes = (published / "human_judgment" / "human.jsonl").read_text("utf-8").splitlines()
    kept = [v for v in votes if '"judge":"expert' in v and "vicuna" not in v]
    path = folder / "experts.jsonl"
    path.write_text("\n".join(kept) + "\n", "utf-8")
    return path


def main(published: pathlib.Path) -> None:
    """Print both tables as Markdown."""
    with tempfile.TemporaryDirectory() as data:
        folder = pathlib.Path(data) / "published"
        folder.mkdir()
        votes = experts(published, folder)
        where = {"bench_name": "published", "data_dir": data}
        harness.gen_judgment(JUDGES, mode="pairwise-all", votes=(votes,), **where)
        gpt4 = folder / "human_judgment" / "gpt4_pair.jsonl"

        def rates(file: pathlib.Path, key: str, *, mode: str | None = None) -> dict[str, str]:
            shown = harness.show_result(mode, input_file=(file,), model_list=MODELS, **where)
            return {
                row["model"]: f"{row[key]:.2f} ({row[f'{key}_low']:.2f} to {row[f'{key}_high']:.2f})"
                for row in shown.rows()
            }

        grades = next((published / "model_judgment").glob("gpt-4_single*.jsonl"))
        columns = rates(votes, "win_rate"), rates(gpt4, "win_rate"), rates(grades, "score")
        print("| model | experts' votes | GPT-4, pairs | GPT-4, grades |\n" + "| --- " * 4 + "|")
        for model in MODELS:
            print(f"| {model} | " + " | ".join(column[model] for column in columns) + " |")

        print("\n| agrees with the experts | turn 1, S1 | turn 1, S2 | turn 2, S1 | turn 2, S2 |")
        print("| --- " * 5 + "|")
        judged = sorted((folder / "model_judgment").glob("*_pair.jsonl"))
        for file in (gpt4, *judged):
            options = build(JudgeReport, {"report": "agreement", "votes": (votes, file), **where})
            rows = find("report", "agreement")(options).tables[0].rows
            sides = {(row["judge1"], row["judge2"]) for row in rows}
            for one, other in sorted(sides, key=lambda pair: pair[0] == pair[1]):
                if (one, other) == (other, one) and (one != "experts" or file != judged[-1]):
                    continue
                cells = [
                    f"{row['ratio']:.1%} ({row['agree']}/{row['total']})"
                    for row in rows
                    if (row["judge1"], row["judge2"]) == (one, other)
                    and row["category"] is None
                    and row["turn"] is not None
                ]
                name = "experts" if one == other else next(n for n in (one, other) if n != "experts")
                print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
