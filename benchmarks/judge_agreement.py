"""What MT-Bench's expert voters and GPT-4 say of five models, and how often judges agree with them.

    python -m benchmarks.judge_agreement FOLDER

FOLDER holds the published files (CC-BY-4.0, Zheng et al. 2023): `question.jsonl`, `model_answer/`,
`reference_answer/`, `human_judgment/human.jsonl` and `gpt4_pair.jsonl`, and in `model_judgment/`
the grades of GPT-4. The built-in judges compare the pairs that the experts voted on.
"""

import pathlib
import shutil
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import harness

MODELS = ("gpt-4", "claude-v1", "gpt-3.5-turbo", "alpaca-13b", "llama-13b")
JUDGES = ("builtin/overlap", "builtin/longest")


def copied(published: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Make a benchmark of the five models in `folder`; return the experts' votes on them."""
    for name in ("reference_answer", "human_judgment"):
        shutil.copytree(published / name, folder / name)
    shutil.copy(published / "question.jsonl", folder)
    (folder / "model_answer").mkdir()
    for model in MODELS:
        shutil.copy(published / "model_answer" / f"{model}.jsonl", folder / "model_answer")
    votes = (folder / "human_judgment" / "human.jsonl").read_text("utf-8").splitlines()
    kept = [vote for vote in votes if '"judge":"expert' in vote and "vicuna" not in vote]
    path = folder / "experts.jsonl"
    path.write_text("\n".join(kept) + "\n", "utf-8")
    return path


def main(published: pathlib.Path) -> None:
    """Print two tables as Markdown."""
    with tempfile.TemporaryDirectory() as data:
        folder = pathlib.Path(data) / "published"
        folder.mkdir()
        experts = copied(published, folder)
        where: dict[str, Any] = {"bench_name": "published", "data_dir": data}
        gpt4 = folder / "human_judgment" / "gpt4_pair.jsonl"
        grades = next((published / "model_judgment").glob("gpt-4_single*.jsonl"))
        columns = []
        for file, key in (
            (experts, "win_rate_adjusted"),
            (gpt4, "win_rate_adjusted"),
            (grades, "average"),
        ):
            rows = harness.show_result(input_file=(file,), model_list=MODELS, **where).rows()
            columns.append({row["model"]: cell(row, key) for row in rows})
        print(line("model", "experts' votes", "GPT-4 in pairs", "GPT-4's grades"))
        print("| --- " * 4 + "|")
        for model in MODELS:
            print(line(model, *(column[model] for column in columns)))

        harness.gen_judgment(JUDGES, mode="pairwise-all", votes=(experts,), **where)
        print(
            "\n"
            + line(
                "agrees with the experts", "turn 1, S1", "turn 1, S2", "turn 2, S1", "turn 2, S2"
            )
        )
        print("| --- " * 5 + "|")
        found: dict[str, list[str]] = {}
        for file in (gpt4, *sorted((folder / "model_judgment").glob("*_pair.jsonl"))):
            page = harness.judge_report("agreement", votes=(experts, file), **where).page
            for row in page.tables[0].rows:
                if (
                    row["category"] is None
                    and row["turn"]
                    and "experts" in (row["judge1"], row["judge2"])
                ):
                    other = row["judge1"] if row["judge2"] == "experts" else row["judge2"]
                    text = f"{row['ratio']:.1%} ({row['agree']}/{row['total']})"
                    found.setdefault(other, []).append(text)
        for judge, cells in sorted(found.items(), key=lambda pair: pair[0] == "experts"):
            print(line(judge, *cells[:4]))


def cell(row: Mapping[str, Any], key: str) -> str:
    """Return a number with its interval."""
    return f"{row[key]:.2f} ({row[key + '_low']:.2f} to {row[key + '_high']:.2f})"


def line(*cells: str) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
