"""Other scripts than Latin, formulas and long answers, as a browser lays them out."""

import pathlib
from typing import Any

import pytest

from tests.viewer.small import numbered, write

pytestmark = pytest.mark.browser
ARABIC = "اكتب دالة بلغة بايثون تحسب مجموع الأعداد الزوجية في القائمة ثم اشرح كل سطر منها."
CODE = "```js\nconst even = (xs) => xs.filter((x) => x % 2 === 0).reduce((a, b) => a + b, 0);\n```"
LIST = "1. الخطوة الأولى: نمر على القائمة.\n2. الخطوة الثانية.\n\n> اقتباس"
EQUATIONS = "\\begin{align*}\n(x+y)+(x-y) &= 3+1 \\\\\nx &= 2\n\\end{align*}"
TEXTS = {
    "arabic": (ARABIC, f"{ARABIC} `sum(xs)`\n\n{CODE}\n\n{LIST}"),
    "hebrew": ("האם זה עובד?", f"כן, `int` הוא מספר שלם (למשל 12).\n\n{CODE}\n\n1. סעיף ראשון."),
    "chinese": ("请解释勾股定理。", "在直角三角形中两条直角边的平方和等于斜边的平方" * 40),
    "hungarian": ("Írj verset!", "Megszentségteleníthetetlenségeskedéseitekért " * 30),
    "latex": ("Solve $x$.", f"So:\n\n{EQUATIONS}\n\n$$\\sum_{{i=1}}^n {'x_i + ' * 40} 1$$"),
    "long": ("Write 50 kB.", "x" * 50_000),
    "long code": (
        "In code.",
        "```\n" + "value = compute('an argument', option=3)  # why\n" * 1_000,
    ),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("scripts")
    home = folder / "scripts"
    asked = [{"category": name, "turns": [turn]} for name, (turn, _) in TEXTS.items()]
    write(home / "question.jsonl", numbered(asked))
    for model in ("ant", "bee"):
        answers = [{"choices": [{"turns": [answer]}]} for _, answer in TEXTS.values()]
        write(home / "model_answer" / f"{model}.jsonl", numbered(answers))
    grade = {"model": "ant", "judge": ["lu", "x"], "turn": 1, "score": 5}
    grades = [{**grade, "judgment": answer} for _, answer in TEXTS.values()]
    write(home / "model_judgment" / "lu_single.jsonl", numbered(grades))
    return folder


BOX = "(own) => { const box = own.getBoundingClientRect(); return [box.left, box.right]; }"


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_is_wider_than_the_screen(
    viewer: Any, data: pathlib.Path, watched: Any, width: int
) -> None:
    for number in range(1, len(TEXTS) + 1):
        query = f"?tab=questions&question={number}"
        page = watched.open(viewer(data)[1], query, width=width)
        page.evaluate("document.querySelectorAll('.tb-view details').forEach(d => d.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for side in page.locator(".tb-side").all():
            assert side.evaluate("(own) => own.scrollWidth - own.clientWidth") == 0, number


def test_lists_code_and_snippets_of_a_text_from_right_to_left_are_whole(
    viewer: Any, data: pathlib.Path, watched: Any
) -> None:
    page = watched.open(viewer(data)[1], "?tab=questions&question=1", width=390)
    side = page.locator(".tb-side").first
    ends = side.evaluate(BOX)[1], side.locator("ol").evaluate(BOX)[1]
    assert side.locator("li").first.evaluate(BOX)[1] <= min(ends) - 20  # its number stands there
    label, code = (side.locator(own).bounding_box() for own in (".tb-language", ".tb-code code"))
    assert label["y"] + label["height"] <= code["y"] + 1
    page = watched.open(viewer(data)[1], "?tab=questions", width=390)
    snippet = page.locator(".tb-list tbody bdi").first
    assert snippet.evaluate("(own) => getComputedStyle(own).direction") == "rtl"
    first = "(own) => { const range = document.createRange(); range.setStart(own.firstChild, 0);"
    first += "range.setEnd(own.firstChild, 4); const box = range.getBoundingClientRect();"
    first += "return box.right <= own.getBoundingClientRect().right + 1; }"
    assert snippet.evaluate(first)  # the beginning is seen, the end is cut


def test_equations_are_aligned(viewer: Any, data: pathlib.Path, watched: Any) -> None:
    page = watched.open(viewer(data)[1], "?tab=questions&question=5")
    cells = page.locator(".tb-side").first.locator("mtd[columnalign=right] > :last-child").all()
    ends = [round(cell.evaluate(BOX)[1]) for cell in cells]
    assert len(ends) == 2
    assert abs(ends[0] - ends[1]) <= 2
