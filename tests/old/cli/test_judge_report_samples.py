"""Several samples of a judge, as gen_judgment --samples writes them: found, kept apart, and split into sources."""

import json
import pathlib
from collections import Counter
from typing import Any

import pytest

from harness.old.cli import gen_judgment, judge_report, show_result
from tests.old.protocol_server import Asked, ProtocolServer
from tests.old.small_bench import answer, question, rows, small_bench, write

QUALITY = {"good": 7, "fair": 5, "poor": 3}


class Wavering:
    """A judge whose three grades of one answer are its quality - 1, + 0 and + 1; of pairs it prefers the first."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def __call__(self, asked: Asked) -> str:
        prompt = "\n".join(asked.texts)
        if "[[A]]" in prompt:
            return "[[A]]"
        self.seen[prompt] += 1
        quality = next(value for name, value in QUALITY.items() if f"A {name} answer" in prompt)
        return f"Rating: [[{quality + self.seen[prompt] - 2}]]"


@pytest.fixture
def sampled(tmp_path: pathlib.Path) -> list[str]:
    """Return the flags of a benchmark of 8 questions, judged three times."""
    made = small_bench(tmp_path, *(question(n, "history", ["Why?"]) for n in range(1, 9)))
    for name in QUALITY:
        write(
            made.folder / "model_answer" / f"{name}.jsonl",
            [answer(n, name, f"A {name} answer to {n}.") for n in range(1, 9)],
        )
    flags = ["--data-dir", str(tmp_path), "--bench-name", "small"]
    with ProtocolServer(Wavering()) as server:
        judging = ["--judge-model", "j", "--base-url", server.openai_url, "--samples", "3", "--yes", "-q"]
        for mode in ("single", "pairwise-all"):
            assert gen_judgment.main([*flags, *judging, "--mode", mode]) == 0
    return flags


def printed(command: Any, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert command.main([*words, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_repeat_finds_all_samples_and_measures_what_a_repeat_changes(
    sampled: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = {row["facet"]: row for row in printed(judge_report, capsys, "repeat", *sampled)["rows"]}
    assert found["repeat"]["variance"] == pytest.approx(1.0)  # of -1, 0 and 1
    assert found["repeat"]["levels"] == 2 * 24
    assert found["model"]["variance"] > 3
    assert found["question"]["variance"] == pytest.approx(0.0, abs=0.1)
    for facet, why in (("order", "there is only one order"), ("judge", "there is only one judge")):
        assert found[facet]["variance"] is None
        assert found[facet]["why_not"] == why


def test_repeat_of_pairs_finds_the_order_that_a_judge_goes_by(
    sampled: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = {
        row["facet"]: row for row in printed(judge_report, capsys, "repeat", "--mode", "pairwise-all", *sampled)["rows"]
    }
    assert found["order"]["share"] == pytest.approx(1.0)
    assert found["repeat"]["variance"] == 0


def test_repeat_with_one_sample_says_that_nothing_was_judged_twice(
    sampled: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(judge_report, capsys, "repeat", *sampled, "--sample", "1")["rows"]
    assert [row["why_not"] for row in found if row["facet"] == "repeat"] == [
        "nothing was judged twice by one judge in one order; see --samples"
    ]


@pytest.mark.parametrize("sample", [None, 0, 1, 2])
def test_a_table_averages_all_samples_or_is_of_the_one_that_is_named(
    sampled: list[str], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], sample: int | None
) -> None:
    names = {0: "j_single.jsonl", 1: "j@mt_bench#1_single.jsonl", 2: "j@mt_bench#2_single.jsonl"}
    chosen = names.values() if sample is None else [names[sample]]
    own = [row for name in chosen for row in rows(tmp_path / "small" / "model_judgment" / name)]
    flags = [] if sample is None else ["--sample", str(sample)]
    shown = printed(show_result, capsys, *sampled, *flags)["rows"]
    for row in shown:
        scores = [line["score"] for line in own if line["model"] == row["model"]]
        assert row["average"] == pytest.approx(sum(scores) / len(scores))
        assert row["n"] == 8 * len(chosen)


def test_samples_in_one_file_are_refused_with_the_flag_that_chooses(
    sampled: list[str], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mixed = tmp_path / "mixed_pair.jsonl"
    files = sorted((tmp_path / "small" / "model_judgment").glob("*_pair.jsonl"))
    mixed.write_bytes(b"".join(path.read_bytes() for path in files))
    assert judge_report.main(["position", "--input-file", str(mixed)]) == 2
    assert "not comparable, choose one with --sample: 0, 1, 2" in capsys.readouterr().err
    assert judge_report.main(["position", "--input-file", str(mixed), "--sample", "2"]) == 0
    assert show_result.main(["--mode", "pairwise-all", "--input-file", str(mixed)]) == 0
    assert "3 samples of each judgment count, averaged" in capsys.readouterr().out


def test_a_sample_that_is_not_there_is_named(sampled: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert show_result.main([*sampled, "--judge-model", "j", "--sample", "5"]) == 2
    assert "no single judgments by j of sample 5" in capsys.readouterr().err


def test_judgments_beside_answers_alone_belong_to_the_shipped_questions(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "mt_bench" / "model_judgment" / "j_single.jsonl"
    line = {"question_id": 1001, "model": "m", "judge": ["j", "single-v1"], "score": 7, "turn": 1}
    write(place, [line])
    assert printed(show_result, capsys, "--input-file", str(place))["bench"] == "mt_bench"
    write(place, [{**line, "question_id": 81}])
    assert printed(show_result, capsys, "--input-file", str(place))["bench"] is None
