"""A plan is written before the calls; afterwards results say what of it was kept."""

import pathlib
import re
from typing import Any

import pytest

import harness
from harness.cli.main import main
from harness.errors import DataError, UsageError
from harness.results.planned import smallest_visible

BOTH = ["builtin/reference", "builtin/eliza"]
JUDGE = "builtin/overlap"


def planned(where: dict[str, Any], **words: Any) -> Any:
    return harness.plan(BOTH, JUDGE, sample_n=6, **{**where, **words})


def judged(where: dict[str, Any], models: list[str] = BOTH, count: int = 6) -> None:
    harness.gen_answer(models, sample_n=count, **where)
    harness.gen_judgment(JUDGE, sample_n=count, **where)


def not_kept(result: Any) -> dict[str, str]:
    table = next(table for table in result.page.tables if table.name == "plan")
    return {row["point"]: row["found"] for row in table.rows if not row["kept"]}


@pytest.fixture
def where(tmp_path: pathlib.Path) -> dict[str, Any]:
    return {"data_dir": str(tmp_path / "data")}


def test_a_plan_that_is_kept_is_kept_in_every_point(
    where: dict[str, Any], tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "plan.toml"
    plan = planned(where, out=path, margin=0.3)
    assert plan.smallest_visible == pytest.approx(smallest_visible(2.02, 6), abs=1e-4)
    judged(where)
    result = harness.show_result("single", plan=path, **where)
    assert not_kept(result) == {}
    assert "was kept in all 9 points. Its margin is 0.3" in result.page.outcome


def test_what_was_not_kept_is_named(where: dict[str, Any], tmp_path: pathlib.Path) -> None:
    path = tmp_path / "plan.toml"
    judged(where, [*BOTH, "builtin/outline"], 5)
    plan = planned(where, out=path)
    assert plan.spread_from == "3 pairs of models judged before"
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub('made = "20', 'made = "21', text), encoding="utf-8")
    found = not_kept(harness.show_result("single", plan=path, **where))
    assert found["models"] == "builtin/eliza, builtin/outline, builtin/reference"
    assert found["questions judged"] == "5 on all planned models"
    assert found["written before judging"].startswith("first judgment 20")


def test_a_plan_calls_no_model_and_is_not_overwritten(
    where: dict[str, Any], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plan.toml"
    words = ["--model", "gpt-4o", "o3", "--judge-model", "gpt-4.1", "--first-n", "4"]
    assert main(["plan", *words, "--out", str(path), "--data-dir", where["data_dir"]]) == 0
    assert "4 questions are too few" in capsys.readouterr().err
    assert not pathlib.Path(where["data_dir"]).exists()
    with pytest.raises(UsageError, match="a plan is not changed"):
        planned(where, out=path)
    with pytest.raises(UsageError, match="name the models to compare"):
        harness.plan(BOTH[:1], JUDGE)
    path.write_text("margn = 1\n", encoding="utf-8")
    judged(where)
    with pytest.raises(DataError, match="unknown key 'margn'; did you mean margin"):
        harness.show_result("single", plan=path, **where)
