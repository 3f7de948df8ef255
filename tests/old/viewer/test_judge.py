"""The tab Judge draws what `judge_report` prints, and says why where there is nothing to draw."""

import pathlib
import re
from typing import Any

import pytest

from harness.old.meta_evaluation.position import judge_position
from harness.old.meta_evaluation.repeat import judge_repeat
from harness.old.meta_evaluation.report import Report
from harness.old.showing.judge_report import report_charts
from tests.old.small_bench import answer, question, small_bench, write
from tests.old.viewer.test_app import grade, pair
from viewer.old.app import Views
from viewer.old.context import Context
from viewer.old.later import Later, NotYet
from viewer.old.store import Store
from viewer.old.tabs.judge import position_said


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for what is made beside the page."""
    whole = Later.get
    monkeypatch.setattr(Later, "get", lambda *given, **named: whole(*given, **{**named, "patience": 60}))


@pytest.fixture
def views(tmp_path: pathlib.Path) -> Views:
    """Return the views of a benchmark of eight questions that one judge has compared, and graded."""
    bench = small_bench(tmp_path, *(question(n, ("math", "coding")[n % 2]) for n in range(1, 9)))
    for model, size in (("a", 10), ("b", 30)):
        write(bench.answer_file(model), [answer(n, model, "x" * (size + n), "y") for n in range(1, 9)])
    folder = bench.folder / "model_judgment"
    winners = (("model_1", "model_1"), ("model_2", "model_2"), ("model_1", "model_2"), ("tie", "model_1"))
    write(folder / "j_pair.jsonl", [pair(n, "a", "b", *winners[n % 4]) for n in range(1, 9)])
    write(
        folder / "j_single.jsonl", [grade(n, m, 3 + (n + len(m) * (m == "b")) % 5) for n in range(1, 9) for m in "ab"]
    )
    vote = {"judge": "v", "turn": 1, "model_a": "a", "model_b": "b"}
    votes = [{**vote, "question_id": n, "winner": ("model_a", "model_b")[n % 2]} for n in range(1, 9)]
    write(bench.folder / "human_judgment" / "v.jsonl", votes)
    return Views(Context(Store(tmp_path, ["small"])))


def test_every_report_is_drawn_with_its_numbers(views: Views) -> None:
    state, html = views.view("?tab=judge&bench=small")
    assert state.judge == "j"
    for label in ("position", "agreement", "judges", "length", "repeat", "corrected"):
        assert f'aria-label="chart of the report on {label}"' in html
        assert f'aria-label="report on {label}"' in html
    assert "it takes two judges with the same judge set; there is one" in html


def test_without_votes_the_report_says_where_they_come_from(views: Views) -> None:
    (views.context.store.data_dir / "small" / "human_judgment" / "v.jsonl").unlink()
    _, html = views.view("?tab=judge")
    assert "there are no votes; cast some in the tab Vote" in html


def test_the_outcome_stands_first_in_words_and_what_is_lacking_last(views: Views) -> None:
    (views.context.store.data_dir / "small" / "human_judgment" / "v.jsonl").unlink()
    _, html = views.view("?tab=judge")
    said = html.index("No significant position bias: the answer shown first won")
    assert said < html.index('aria-label="chart of the report on position"')
    assert "<h3>Agreement with votes</h3>" not in html
    lacking = html[html.index("Not known yet") :]
    for title in ("Agreement with votes", "Choosing a judge", "Corrected by votes"):
        assert f"<li>{title}: there are no votes; cast some in the tab Vote" in lacking


@pytest.mark.parametrize(
    ("share", "low", "high", "said"),
    [
        pytest.param(0.495, 0.463, 0.527, "No significant position bias: .* 49.5% of 200", id="none"),
        pytest.param(0.7, 0.61, 0.79, r"^Position bias: .* 70.0% .*\(61.0% to 79.0%\)", id="first"),
        pytest.param(0.3, 0.21, 0.39, r"^Position bias: .* 30.0%", id="second"),
        pytest.param(0.5, None, None, "too few questions for an interval", id="few"),
        pytest.param(None, None, None, "cannot be measured: no game was decided", id="undecided"),
    ],
)
def test_whether_position_matters_is_said(
    share: float | None, low: float | None, high: float | None, said: str
) -> None:
    row = {"first_share": share, "first_share_low": low, "first_share_high": high, "decided_games": 200}
    assert re.search(said, position_said(Report("position", "j", None, [row])))


def test_a_damaged_file_spoils_only_its_own_reports(views: Views) -> None:
    file = views.context.store.data_dir / "small" / "model_judgment" / "j_pair.jsonl"
    file.write_text("{broken\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    _, html = views.view("?tab=judge")
    assert "j_pair.jsonl:1: not valid JSON" in html
    assert 'aria-label="chart of the report on repeat"' in html


def test_a_judge_without_pairs_is_told_how_to_make_them(views: Views) -> None:
    (views.context.store.data_dir / "small" / "model_judgment" / "j_pair.jsonl").unlink()
    _, html = views.view("?tab=judge")
    assert "this judge has made no pairs here" in html
    assert "gen_judgment --bench-name small --mode pairwise-all" in html


def drawn(report: Report) -> str:
    chart = next(iter(report_charts(report)), None)
    assert chart is not None
    return chart.draw()


def test_the_drawn_numbers_are_those_of_the_report(views: Views) -> None:
    folder = views.context.store.data_dir
    position = judge_position(bench_name="small", data_dir=folder)
    assert ">50%</text>" in drawn(position).replace("</tspan>", "")
    repeat = judge_repeat("single", bench_name="small", data_dir=folder)
    shares = drawn(repeat)
    assert all(row["facet"] in shares for row in repeat.rows if row["share"])


def test_the_first_report_is_made_alone_and_the_others_after_it(views: Views, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, begun = Later.get, set[str]()

    def get(self: Later, key: Any, what: str, make: Any, **named: Any) -> Any:
        begun.add(what)
        if what not in there:
            raise NotYet(what)
        return whole(self, key, what, make, **named)

    monkeypatch.setattr(Later, "get", get)
    position = "computing the report on position"
    there: set[str] = set()
    _, html = views.view("?tab=judge")
    assert {what for what in begun if "report" in what or "votes" in what} == {position}
    assert "this report comes next" in html
    there = {position}
    _, html = views.view("?tab=judge")
    assert 'aria-label="chart of the report on position"' in html
    assert {f"computing the report on {name}" for name in ("length", "repeat of pairs", "corrected")} <= begun


def test_further_samples_of_the_usual_judge_set_are_the_same_judge(views: Views) -> None:
    folder = views.context.store.data_dir / "small" / "model_judgment"
    again = [
        row | {"sample": 1, "judge_set": "mt_bench"} for row in (grade(n, m, 4) for n in range(1, 9) for m in "ab")
    ]
    write(folder / "j@mt_bench#1_single.jsonl", again)
    usual = [row | {"judge_set": "mt_bench"} for row in (grade(n, m, 3 + n % 5) for n in range(1, 9) for m in "ab")]
    write(folder / "j_single.jsonl", usual)
    state, html = views.view("?tab=judge&bench=small")
    assert (state.judge, state.judge_set) == ("j", "")
    assert "j (mt_bench" not in html
    assert '<h2 class="tb-title"><bdi>j</bdi></h2>' in html
    assert "this judge has made no pairs" not in html
    assert "counted together: j in j_single.jsonl, j (sample 1) in j@mt_bench#1_single.jsonl" in html


def test_agreement_on_labels_is_drawn_and_that_of_grades_by_people_is_in_its_numbers(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, *(question(n) for n in range(1, 9)))
    labels = [grade(n, "m", -1) | {"label": ("A", "B")[n % 2], "judge_set": "facts"} for n in range(1, 9)]
    write(bench.judgment_file("j", "facts", "single"), labels)
    votes = [{"judge": "v", "model": "m", "question_id": n, "turn": 1} for n in range(1, 9)]
    write(bench.folder / "human_judgment" / "v.jsonl", [vote | {"label": "A"} for vote in votes])
    _, html = Views(Context(Store(tmp_path, ["small"]))).view("?tab=judge&bench=small")
    assert "same label, 95% interval" in html
    assert "needs at least one model with a value" not in html
    write(bench.judgment_file("j", "facts", "single"), [grade(n, "m", 3 + n % 3) for n in range(1, 9)])
    graded = [vote | {"score": 2 + n % 4} for n, vote in enumerate(votes)]
    write(
        bench.folder / "human_judgment" / "v.jsonl", [{k: v for k, v in one.items() if k != "label"} for one in graded]
    )
    _, html = Views(Context(Store(tmp_path, ["small"]))).view("?tab=judge&bench=small")
    assert 'aria-label="report on agreement"' in html
    assert "needs at least one model with a value" not in html
