"""Several judges' labels, and grades by several criteria, alone and together."""

from collections.abc import Sequence

import pytest

from harness.old.records import Source
from harness.old.results.labels import Judgment
from harness.old.results.matrix import Matrix, matrix
from harness.old.results.panel import Panel, labels_panel, means_panel
from tests.old.observed import Origin, grade

SHARES = {"CORRECT": 1.0, "INCORRECT": 0.0, "NOT_ATTEMPTED": 0.0}


def labelled(question: int, label: str | None, model: str = "m", choice: str = "0") -> Judgment:
    share = None if label is None else SHARES[label]
    return Judgment(question, 1, model, Source("j", choice=choice), label, share, None)


def panel_of(*judges: Sequence[Judgment]) -> Panel:
    return labels_panel({f"j{at}": rows for at, rows in enumerate(judges, 1)}, sure=False)


@pytest.mark.parametrize(
    ("said", "correct", "undecided"),
    [
        pytest.param(["CORRECT", "CORRECT", "INCORRECT"], 1.0, 0, id="two of three"),
        pytest.param(["CORRECT", "INCORRECT", "INCORRECT"], 0.0, 0, id="two of three for another"),
        pytest.param(["CORRECT", "INCORRECT", "NOT_ATTEMPTED"], None, 1, id="one each"),
        pytest.param(["CORRECT", "INCORRECT"], None, 1, id="two judges differ"),
        pytest.param(["CORRECT", "CORRECT"], 1.0, 0, id="two judges agree"),
        pytest.param(
            ["CORRECT", "CORRECT", "INCORRECT", "INCORRECT", "NOT_ATTEMPTED"], None, 1, id="two share the most"
        ),
    ],
)
def test_the_panels_label_is_what_most_give_and_none_where_labels_tie(
    said: list[str], correct: float | None, undecided: int
) -> None:
    together = panel_of(*([labelled(1, label)] for label in said)).table.rows()[-1]
    assert (together["correct"], together["undecided"]) == (correct, undecided)
    turned = panel_of(*([labelled(1, label)] for label in reversed(said))).table.rows()[-1]
    assert (turned["correct"], turned["undecided"]) == (correct, undecided)


def test_an_item_without_every_judges_label_is_left_out_for_all() -> None:
    one = [labelled(1, "CORRECT"), labelled(2, "CORRECT"), labelled(3, None)]
    other = [labelled(3, "CORRECT"), labelled(1, "INCORRECT")]
    panel = panel_of(one, other)
    assert [(row["judge"], row["n"], row["correct"], row["excluded"]) for row in panel.table.rows()] == [
        ("j1", 1, 1.0, 2),
        ("j2", 1, 0.0, 2),
        ("all together", 0, None, 2),
    ]
    assert (panel.common, panel.left_out) == (1, 2)


def test_choices_of_one_answer_are_items_of_their_own() -> None:
    one = [labelled(1, "CORRECT"), labelled(1, "INCORRECT", choice="1")]
    panel = panel_of(one, [one[1], one[0]])
    assert panel.disagreement.rows()[0]["differ"] == 0
    assert panel.common == 2


def test_the_share_of_items_on_which_judges_differ_is_by_model() -> None:
    one = [labelled(1, "CORRECT", "x"), labelled(1, "CORRECT", "y"), labelled(2, "INCORRECT", "y")]
    other = [one[0], labelled(1, "INCORRECT", "y"), one[2]]
    differ = {row["model"]: (row["differ"], row["n"]) for row in panel_of(one, other).disagreement.rows()}
    assert differ == {"all": (pytest.approx(1 / 3), 3), "x": (0.0, 1), "y": (0.5, 2)}


def graded(*scores: float | None, model: str = "m") -> Matrix:
    return matrix([grade(at, 1, model, score, Origin("j")) for at, score in enumerate(scores, 1)])


def test_criteria_are_averaged_each_by_itself_on_what_all_graded() -> None:
    judges = {
        "a": {"clarity": graded(8, 6), "truth": graded(2, 4)},
        "b": {"clarity": graded(6, None), "truth": graded(4, 6)},
    }
    panel = means_panel(judges, "criterion", sure=False)
    assert [(row["judge"], row["clarity"], row["truth"], row["n"], row["excluded"]) for row in panel.table.rows()] == [
        ("a", 8, 3, 3, 1),
        ("b", 6, 5, 3, 1),
        ("all together", 7, 4, 3, 1),
    ]
    assert [(row["criterion"], row["differ"], row["n"], row["excluded"]) for row in panel.disagreement.rows()] == [
        ("clarity", 1.0, 1, 1),
        ("truth", 1.0, 2, 0),
    ]


def test_dimensions_of_one_judgment_count_once() -> None:
    own = {"clarity": graded(8, 6), "truth": graded(2, 4)}
    panel = means_panel({"a": own, "b": own}, "dimension", sure=False)
    assert [row["n"] for row in panel.table.rows()] == [2, 2, 2]
    assert panel.disagreement.rows()[0]["differ"] == 0
