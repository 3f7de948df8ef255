"""What the views show: who won, the worst answers, flips, a text with its mark, both judges."""

import csv
import html
import io
import pathlib
import re
from typing import Any

import msgspec
import pytest

from harness import gen_answer, gen_judgment, show_result
from harness.cli.main import viewer as main
from tests.viewer.small import small, write
from viewer.app import Views
from viewer.data import Home
from viewer.state import View, parse


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def listed(page: str) -> list[str]:
    return re.findall(r'<th scope="row"[^>]*>(?:<a[^>]*>)?<span class="tb-id">(\d+)</span>', page)


def links(page: str) -> list[str]:
    return [found.replace("&amp;", "&") for found in re.findall(r'href="(\?[^"]*)"', page)]


def test_the_board_says_first_who_won(views: Views) -> None:
    page = views.show("").page
    assert words(page).startswith("ant is the best of 3 models in pairs on 6 questions")
    table = page.partition("</table>")[0]
    assert re.findall(r'<th scope="row"[^>]*>.*?>(\w+)</a>', table) == ["ant", "bee", "cat"]
    assert "win/tie/loss" in words(page)


def test_from_the_board_the_worst_answers_of_a_model_are_one_click_away(views: Views) -> None:
    page = views.show("").page
    link = next(own for own in links(page) if parse(own).model == ("bee",))
    assert listed(views.show(link)[1])[0] == "5"


def rows_of_csv(views: Views, query: str = "") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(views.file(query, "csv"))))


def test_two_models_ticked_are_the_pairs_between_them_as_on_the_terminal(
    tmp_path: pathlib.Path,
) -> None:
    home = small(tmp_path)
    path = home / "small" / "model_judgment" / "lu_pair.jsonl"
    rows = [msgspec.json.decode(line) for line in path.read_text().splitlines()]
    for row in rows:
        if (row["model_1"], row["model_2"]) == ("ant", "cat"):
            row["g1_winner"] = row["g2_winner"] = "tie"
    write(path, rows)
    both = show_result(
        "pairwise-all", bench_name="small", data_dir=str(home), model_list=["ant", "cat"]
    )
    rates = {row["model"]: row["win_rate_adjusted"] for row in both.rows()}
    assert rates == {"ant": 0.5, "cat": 0.5}
    views, query = Views(Home(home)), "?model=ant&model=cat"
    page = views.show(query).page
    pairs = [row for row in rows_of_csv(views, query) if row["mode"] == "pairwise-all"]
    assert {row["model"]: float(row["win_rate_adjusted"]) for row in pairs} == rates
    assert "not decided" in words(page)


def test_what_is_out_of_date_is_counted_of_the_verdicts_that_are_shown(
    tmp_path: pathlib.Path,
) -> None:
    where: dict[str, Any] = {"data_dir": str(tmp_path), "first_n": 6}
    gen_answer(["builtin/outline", "builtin/eliza"], **where)
    for mode in ("single", "pairwise-all"):
        gen_judgment("builtin/overlap", mode, **where)
    path = tmp_path / "mt_bench" / "model_answer" / "builtin%2Feliza.jsonl"
    first, *lines = path.read_text().splitlines()
    path.write_text("\n".join([first.replace('"turns":["', '"turns":["Well. '), *lines, ""]))
    views = Views(Home(tmp_path))
    for query, flags in (("?verdicts=pair/mt_bench", {"mode": "pairwise-all"}), ("", {})):
        shown = show_result(**flags, data_dir=str(tmp_path))
        (cause,) = (note.text for note in shown.page.causes)
        assert cause in words(views.show(query).page)


@pytest.mark.parametrize("models", [("ant", "bee"), ("bee", "cat"), ("ant",), ()])
def test_the_board_says_what_the_terminal_says(
    models: tuple[str, ...], views: Views, tmp_path: pathlib.Path
) -> None:
    terminal = show_result(bench_name="small", data_dir=str(tmp_path), model_list=models)
    page = views.show(View(model=models).query())[1]
    assert words(page).startswith(html.escape(" ".join(terminal.page.outcome.split())))
    for table in terminal.page.tables if models else ():
        if table.only in ("", "text"):
            for row in table.rows:
                cells = [own.cell(row) for own in table.text_columns()]
                assert all(f">{cell}<" in page or f" {cell}<" in page for cell in cells), cells


def test_the_judges_of_the_project_come_first_on_the_board_as_on_the_terminal(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    pathlib.Path("turnbench.toml").write_text('judge_model = ["mo", "nobody"]')
    outcome = words(html.escape(show_result(bench_name="small").page.outcome))
    assert main(["--export", "site"]) == 0
    assert outcome in words(pathlib.Path("site/index.html").read_text())
    views = Views(Home(tmp_path / "data", judges=("mo",)))
    assert words(views.show("").page).startswith(outcome)
    fields = views.show("").fields
    assert fields is not None
    assert list(fields.options["verdicts"].values())[:3] == [
        "grades by mo",
        "grades by lu",
        "pairs by lu",
    ]
    grades = {row["model"]: row["average"] for row in show_result(bench_name="small").rows()}
    assert {row["model"]: float(row["average"]) for row in rows_of_csv(views)} == grades
    assert words(views.show("?verdicts=grade/unstated/2").page).count("graded from 1 to 10 by lu")
    everybody = words(Views(Home(tmp_path / "data", judges=("nobody",))).show("").page)
    assert everybody == words(Views(Home(tmp_path / "data")).show("").page)


def test_two_models_are_a_row_for_each_turn_whose_numbers_lead_to_the_verdicts(
    views: Views,
) -> None:
    page = views.show("?model=bee&model=ant")[1]
    counts = {"win": (5, 5, 10), "tie": (1, 1, 2), "loss": (0, 0, 0)}
    for only, expected in counts.items():
        leads = [own for own in links(page) if parse(own).only == only]
        shown = [re.search(r"(\d+) verdict", views.show(own)[1]) for own in leads]
        assert tuple(int(found[1]) for found in shown if found) == expected


def test_three_models_are_a_matrix_of_win_rates_with_their_counts(views: Views) -> None:
    page = views.show("")[1]
    table = page.partition("win rate against each other model (pairs)")[2].partition("</table>")[0]
    rows = [
        [words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
        for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)
    ]
    assert rows[:2] == [
        ["model", "ant", "bee", "cat"],
        ["ant", "–", "0.92 (12)", "0.92 (12)"],
    ]
    assert parse(links(table)[-1]).model == ("cat", "bee")


def test_of_one_judge_the_board_has_that_judges_pairs_alone(tmp_path: pathlib.Path) -> None:
    judged = small(tmp_path) / "small" / "model_judgment"
    pairs = (judged / "lu_pair.jsonl").read_text()
    for other, name in (("mo", "mo"), ("builtin/first", "builtin%2Ffirst")):
        swapped = pairs.replace('["lu",', f'["{other}",').replace('"model_1":', '"model_x":')
        swapped = swapped.replace('"model_2":', '"model_1":').replace('"model_x":', '"model_2":')
        (judged / f"{name}_pair.jsonl").write_text(swapped)
    views = Views(Home(tmp_path))
    assert views.show("").page.count("win rate against each other model (pairs)</h2>") == 1
    for judge in ("lu", "mo"):
        shown = show_result(
            "pairwise-all", judge_model=judge, bench_name="small", data_dir=tmp_path
        )
        rates = {row["model"]: row["win_rate_adjusted"] for row in shown.rows()}
        board = rows_of_csv(views, f"?judge={judge}")
        assert {r["model"]: float(r["pair_win_rate_adjusted"]) for r in board} == rates
        leads = [parse(own) for own in links(views.show(f"?judge={judge}").page)]
        assert {own.judge for own in leads if own.verdicts.startswith("pair/")} == {judge}


def test_two_models_in_the_list_have_their_difference_and_who_is_better(views: Views) -> None:
    page = words(views.show("?tab=questions&model=cat&model=ant&verdicts=grade/unstated")[1])
    assert "cat less ant" in page
    assert "-4.00" in page
    for only, expected in (("better", []), ("worse", ["1", "2", "4", "5", "6"])):
        query = f"?tab=questions&model=cat&model=ant&verdicts=pair/unstated&only={only}"
        assert listed(views.show(query)[1]) == expected


def test_a_model_without_verdicts_can_be_ticked(views: Views) -> None:
    page = words(views.show("?verdicts=vote/unstated&model=ant&model=cat")[1])
    assert "no judgments of ant and cat" in page
    assert "no judgments of dog; there are those of ant, bee and cat" in words(
        views.show("?model=dog")[1]
    )


def test_the_csv_of_the_board_has_scores_their_intervals_and_records(views: Views) -> None:
    ant = rows_of_csv(views)[0]
    assert ant["model"] == "ant"
    assert float(ant["average_low"]) < float(ant["average"]) < float(ant["average_high"])
    assert (ant["pair_win"], ant["pair_tie"], ant["pair_loss"]) == ("20", "4", "0")


def test_two_judges_are_seen_together_and_compared(views: Views) -> None:
    assert {"lu", "mo"} <= set(words(views.show("")[1]).split())
    page = words(views.show("?judge=lu&other=mo")[1])
    assert "lu less mo" in page
    assert "1.00" in page
    assert "-1.00" not in page


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?tab=questions", ["1", "2", "3", "4", "5", "6"]),
        ("?tab=questions&category=math", ["3", "6"]),
        ("?tab=questions&sort=low&model=cat", ["5", "1", "2", "3", "6", "4"]),
        ("?tab=questions&sort=flip", ["3", "1", "2", "4", "5", "6"]),
    ],
)
def test_the_list_is_filtered_and_sorted(views: Views, query: str, expected: list[str]) -> None:
    found = listed(views.show(query)[1])
    assert found[:2] == expected[:2]
    assert sorted(found) == sorted(expected)


def test_a_question_is_a_grid_of_verdicts_then_answers_then_reasons(views: Views) -> None:
    page = words(views.show("?tab=questions&question=3&model=ant&model=bee")[1])
    assert "changed with the order: a tie" in page
    assert "ant shown first, as Assistant A: ant" in page
    assert "bee shown first, as Assistant A: bee" in page
    assert "lu, pairs flipped flipped" in page
    assert page.index("ant says 3") < page.index("lu likes ant here")
    assert "ann: ant over bee" in page


def test_each_cell_of_the_grid_leads_to_a_verdict(views: Views) -> None:
    page = views.show("?tab=questions&question=3&model=bee&model=ant")[1]
    grid = page.partition("tb-grid")[2].partition("</table>")[0]
    places = re.findall(r'href="#([^"]*)"', grid)
    assert len(places) == 2 + 2 * (2 + 2 + 1) + 1  # turns; grades of two judges, pairs; votes
    assert all(page.count(f'id="{place}"') == 1 for place in places)
    titles = re.findall(r"<h4>(\w+) shown first, as Assistant A", page)
    assert titles == ["bee", "ant"] * 2  # as the columns stand


def test_a_verdict_and_its_conversation_have_one_number(tmp_path: pathlib.Path) -> None:
    home = small(tmp_path) / "small"
    path = home / "model_answer" / "ant.jsonl"
    rows = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    second = {"index": 1, "turns": ["On second thought, 1.", "Yes."]}
    write(path, [row | {"choices": [*row["choices"], second]} for row in rows])
    path = home / "model_judgment" / "lu_single.jsonl"
    write(path, [msgspec.json.decode(path.read_bytes().splitlines()[0]) | {"choice": 1}], "ab")
    page = words(Views(Home(tmp_path)).show("?tab=questions&question=1&model=ant")[1])
    assert "lu (choice 1)" in page
    assert "Choice 1 On second thought, 1." in page


def test_a_question_whose_id_is_a_text_of_digits_is_opened(tmp_path: pathlib.Path) -> None:
    question = {"question_id": "007", "category": "c", "turns": ["Q"]}
    write(tmp_path / "b" / "question.jsonl", [question])
    page = Views(Home(tmp_path)).show("?tab=questions&question=007").page
    assert "there is no question" not in page


def test_long_reasons_and_answers_are_folded(views: Views, tmp_path: pathlib.Path) -> None:
    query = "?tab=questions&question=1&model=ant&model=bee"
    assert "Read on" not in views.show(query)[1]
    path = tmp_path / "small" / "model_judgment" / "lu_single.jsonl"
    rows = [msgspec.json.decode(line) for line in path.read_text().splitlines()]
    write(path, [{**row, "judgment": "a line\n" * 9} for row in rows])
    assert views.show(query)[1].count("Read on") == 4


def test_the_judges_tab_says_how_often_they_agree_with_people(views: Views) -> None:
    assert "mo agrees with people on 92% (53 to 99) of the 12 votes" in words(
        views.show("?tab=judges")[1]
    )


def test_judges_are_rows_with_flips_and_agreement(views: Views) -> None:
    page = views.show("?tab=judges")[1]
    table = page.partition("</table>")[0]
    rows = [
        [words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
        for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)
    ]
    assert [row[0] for row in rows] == ["judge", "lu", "mo", "people among themselves"]
    assert rows[1][1:4] == ["72", "36", "17"]
    assert any(parse(own).only == "flipped" and parse(own).tab == "verdicts" for own in links(page))


def test_an_open_page_shows_new_rows_when_it_is_loaded_again(tmp_path: pathlib.Path) -> None:
    views = Views(Home(small(tmp_path)))
    assert "1 verdict;" in words(views.show("?tab=verdicts&only=none")[1])
    with (tmp_path / "small" / "model_judgment" / "mo_single.jsonl").open("a") as file:
        file.write(
            '{"question_id": 2, "model": "ant", "judge": ["mo", "x"], "turn": 3, "score": -1}\n'
        )
    assert "2 verdicts;" in words(views.show("?tab=verdicts&only=none")[1])


@pytest.mark.parametrize(
    "query",
    ["?bench=none", "?tab=none", "?tab=questions&question=99", "?verdicts=x&judge=y&other=z",
     "?tab=questions&part=-1&sort=x&only=y", "?tab=verdicts&find=((&least=x&sort=-no",
     "?tab=questions&part=999999999999", "?%00=%ff&model=",
     "?tab=questions&question=1&model=none&model=ant", "?tab=vote&voter=ann&show=zz.1&plan=-3"],
)  # fmt: skip
def test_an_address_that_nobody_made_shows_a_page(views: Views, query: str) -> None:
    page = views.show(query).page
    assert "cannot be shown" not in page
    assert words(page)


def test_a_folder_without_answers_says_what_to_do(tmp_path: pathlib.Path) -> None:
    write(
        tmp_path / "new" / "question.jsonl", [{"question_id": 1, "category": "a", "turns": ["?"]}]
    )
    page = words(Views(Home(tmp_path)).show("")[1])
    assert "There are no answers in new yet; gen_answer makes them." in page
    assert str(tmp_path) not in page


def test_a_damaged_file_is_named_and_the_rest_is_shown(tmp_path: pathlib.Path) -> None:
    home = small(tmp_path)
    with (home / "small" / "model_judgment" / "lu_single.jsonl").open("a") as file:
        file.write('{"question_id": 1}\n')
    page = words(Views(Home(home)).show("")[1])
    assert "lu_single.jsonl:37: " in page
    assert "it is in no number here" in page
    assert "ant is the best" in page


@pytest.mark.parametrize("damaged", ['{"question_id": 1}', "no json"])
def test_how_much_of_a_damaged_file_is_not_read_is_said(
    tmp_path: pathlib.Path, damaged: str, capsys: pytest.CaptureFixture[str]
) -> None:
    home = small(tmp_path)
    path = home / "small" / "model_judgment" / "lu_single.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:9], damaged, *lines[9:]]) + "\n")
    views = Views(Home(home))
    for query in ("", "?tab=verdicts", "?tab=judges", "?tab=questions&question=1"):
        page = words(views.show(query).page)
        assert page.count("lu_single.jsonl:10: ") == 1
        assert "it and the 27 lines behind it are in no number here" in page
    assert main(["--data-dir", str(home), "--export", str(tmp_path / "site")]) == 2
    assert "lu_single.jsonl:10: " in capsys.readouterr().err


def test_judgments_count_beside_a_damaged_file_of_answers(tmp_path: pathlib.Path) -> None:
    where: dict[str, Any] = {"data_dir": str(tmp_path), "first_n": 6}
    gen_answer(["builtin/outline", "builtin/eliza"], **where)
    for mode in ("single", "pairwise-all"):
        gen_judgment("builtin/overlap", mode, **where)
    path = tmp_path / "mt_bench" / "model_answer" / "builtin%2Feliza.jsonl"
    path.write_text(path.read_text() + "no json\n")
    views = Views(Home(tmp_path))
    page = words(views.show("").page)
    assert page.count("builtin%2Feliza.jsonl:7: is not JSON") == 1
    assert "builtin/outline is better than builtin/eliza" in page
    assert "36 verdicts" in words(views.show("?tab=verdicts").page)


def test_an_address_and_its_view_are_the_same() -> None:
    view = View("questions", "b", model=("a b", "c&d"), find="é ?", sort="low")
    assert parse(view.query()) == view


def test_a_baseline_is_ranked_neither_here_nor_on_the_terminal(tmp_path: pathlib.Path) -> None:
    home = small(tmp_path)
    folder = home / "small" / "model_judgment"
    for path in folder.glob("*_single.jsonl"):
        path.unlink()
    rows = [
        msgspec.json.decode(line) for line in (folder / "lu_pair.jsonl").read_text().splitlines()
    ]
    write(folder / "lu_pair.jsonl", [row for row in rows if "cat" in row.values()])
    terminal = show_result(bench_name="small", data_dir=str(home))
    views = Views(Home(home))
    page = views.show("").page
    assert [row["model"] for row in terminal.rows()] == ["ant", "bee"]
    assert [row["model"] for row in rows_of_csv(views)] == ["ant", "bee"]
    assert "pairs against cat" in words(page)


def test_a_win_rate_leads_to_all_of_its_pairs(views: Views) -> None:
    page = views.show("").page
    leads = [parse(own) for own in links(page) if parse(own).verdicts.startswith("pair/")]
    assert leads
    assert not any(view.only for view in leads)


@pytest.mark.parametrize("tab", ["board", "questions", "verdicts"])
def test_one_model_against_another_is_two_drop_downs_on_each_tab(views: Views, tab: str) -> None:
    fields = views.show(f"?tab={tab}&model=bee&model=ant").fields
    assert fields is not None
    controls = fields.updates()
    assert [controls[name]["value"] for name in ("model", "against")] == ["bee", "ant"]
    assert [value for _, value in controls["model"]["choices"]] == ["", "ant", "bee", "cat"]
    assert controls["models"]["value"] == ["bee", "ant"]


def test_numbers_by_category_that_do_not_fit_are_a_table_of_their_own(
    views: Views, tmp_path: pathlib.Path
) -> None:
    assert views.show("")[1].count("<table") == 2
    path = tmp_path / "small" / "question.jsonl"
    names = {"math": "mathematics and logic", "writing": "x" * 90, "coding": "y" * 90}
    rows = [msgspec.json.decode(line) for line in path.read_text().splitlines()]
    write(path, [{**row, "category": names[row["category"]]} for row in rows])
    page = Views(Home(tmp_path)).show("")[1]
    assert page.count("<table") == 3
    assert "by category" in page
