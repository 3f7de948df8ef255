"""Votes are blind, land on the right model, survive, and are not asked for twice."""

import html
import json
import pathlib
import re
import threading
from collections import Counter
from urllib.parse import urlencode

import pytest

from harness.old.bench import Bench
from harness.old.errors import UsageError
from harness.old.jsonl import Journal
from harness.old.judgments.reading import read_judgments
from tests.old.small_bench import answer, question, rows, small_bench, write
from tests.old.viewer.test_app import grade, pair
from viewer.old.app import Views
from viewer.old.context import Context
from viewer.old.later import Later
from viewer.old.state import parse
from viewer.old.store import Store
from viewer.old.votes import Booth, check_voter, settled_files, state_of, votes_in

ANN = "?tab=vote&bench=small&f.voter=ann&f.max=all"
MODELS = ("secret-x", "secret-y", "secret-z")
JUDGED = frozenset(MODELS[:2])


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for what is made beside the page."""
    whole = Later.get
    monkeypatch.setattr(Later, "get", lambda *given, **named: whole(*given, **{**named, "patience": 60}))


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> Bench:
    """Return a benchmark of two questions of two turns, answered by three models, judged."""
    made = small_bench(tmp_path, question(1, "math"), question(2))
    for at, model in enumerate(MODELS):
        said = [answer(n, model, f"first of {at} to {n}", f"second of {at} to {n}") for n in (1, 2)]
        write(made.answer_file(model), said)
    judged = [pair(n, MODELS[0], MODELS[1], "model_1", "model_1") for n in (1, 2)]
    write(made.folder / "model_judgment" / "j_pair.jsonl", judged)
    write(made.folder / "model_judgment" / "j_single.jsonl", [grade(1, MODELS[0], 9), grade(1, MODELS[1], 2)])
    return made


@pytest.fixture
def views(bench: Bench) -> Views:
    """Return the views of it."""
    return Views(Context(Store(bench.folder.parent, ["small"])))


def booth(bench: Bench, voter: str = "ann") -> Booth:
    """Return the booth of a voter."""
    answers = {model: bench.answers(model) for model in bench.answered_models()}
    answered = {model: set(own) for model, own in answers.items()}
    return Booth(bench, voter, answered, lambda model, key: answers[model].get(key), lambda key: {JUDGED})


def order(bench: Bench, voter: str) -> list[tuple[int | str, int, str, str]]:
    """Return what a voter is asked, who votes for A each time."""
    asked = []
    while (ballot := booth(bench, voter).next()) is not None:
        asked.append((ballot.question.question_id, ballot.turn, ballot.model_a, ballot.model_b))
        booth(bench, voter).vote(ballot, "a")
    return asked


def vote(views: Views, choice: str, query: str = ANN) -> str:
    """Vote as the page does, on what it asks; return the page that follows."""
    state, html = views.view(query)
    item = re.search(r'name="item" value="([^"]+)"', html)
    assert item is not None
    fields = [*state.pairs(), ("item", item[1]), ("choice", choice)]
    return views.acted(state.query(), json.dumps(fields))[1]


@pytest.mark.parametrize(
    ("choice", "winner"),
    [
        pytest.param("a", "model_a", id="A"),
        pytest.param("b", "model_b", id="B"),
        pytest.param("tie", "tie", id="tie"),
        pytest.param("bad", "tie (bothbad)", id="both bad"),
    ],
)
def test_a_vote_is_written_in_the_published_shape_with_the_sides_as_shown(
    choice: str, winner: str, views: Views, bench: Bench
) -> None:
    _, html = views.view(ANN)
    shown = re.findall(r"Answer ([AB])</h3>.*?<p>first of (\d) to (\d)</p>", html)
    assert [side for side, _, _ in shown] == ["A", "B"]
    vote(views, choice)
    (row,) = rows(bench.folder / "human_judgment" / "ann.jsonl")
    assert row.pop("tstamp") > 1.7e9
    assert row == {
        "question_id": int(shown[0][2]),
        "model_a": MODELS[int(shown[0][1])],
        "model_b": MODELS[int(shown[1][1])],
        "winner": winner,
        "judge": "ann",
        "turn": 1,
    }
    (read,) = read_judgments(bench.folder / "human_judgment" / "ann.jsonl").observations
    assert (read.source.judge, read.source.voter) == ("ann", True)


def test_neither_page_nor_address_names_a_model_before_the_end(views: Views) -> None:
    state, html = views.view(ANN + "&model=secret-x&model=secret-y&judge=j&question=1")
    assert "secret" not in html + state.query()
    for _ in range(12):
        html = vote(views, "tie")
        if "nothing left to vote on" in html:
            break
        assert "secret" not in html
    assert "Agreement with the judges" not in html


def test_the_second_turn_of_a_pair_follows_its_first_on_the_same_sides(bench: Bench) -> None:
    asked = order(bench, "ann")
    assert len(asked) == 12
    assert [turn for _, turn, _, _ in asked] == [1, 2] * 6
    assert all(one[0] == other[0] and one[2:] == other[2:] for one, other in zip(asked[::2], asked[1::2], strict=True))


def test_every_question_comes_once_before_any_comes_again(bench: Bench) -> None:
    asked = [key for key, turn, _, _ in order(bench, "ann") if turn == 1]
    assert set(asked[:2]) == set(asked[2:4]) == {1, 2}


def test_the_order_is_the_voters_own_and_repeats(bench: Bench) -> None:
    first = order(bench, "ann")
    (bench.folder / "human_judgment" / "ann.jsonl").unlink()
    assert order(bench, "ann") == first
    assert order(bench, "bob") != first


def test_sides_are_drawn_by_lot(bench: Bench) -> None:
    first = Counter(
        ballot.model_a < ballot.model_b
        for voter in (f"voter {n}" for n in range(200))
        if (ballot := booth(bench, voter).next())
    )
    assert 70 < first[True] < 130


def test_what_was_voted_is_not_asked_again_and_the_last_vote_counts(views: Views, bench: Bench) -> None:
    vote(views, "a")
    _, html = views.view(ANN)
    assert "1 of 12" in html
    again = vote(views, "bad", ANN + "&f.show=last")
    assert "1 of 12" in again
    path = bench.folder / "human_judgment" / "ann.jsonl"
    assert [row["winner"] for row in rows(path)] == ["model_a", "tie (bothbad)"]
    assert [one.games for one in votes_in([path])] == [(0.5,)]
    _, html = views.view(ANN + "&f.show=last")
    assert "You voted on this before: both are bad" in html


def test_agreement_is_shown_when_the_voter_has_finished_and_then_no_vote_is_taken(views: Views, bench: Bench) -> None:
    asked = [["tab", "vote"], ["bench", "small"], ["f.voter", "ann"], ["finish", "1"]]
    for _ in range(12):
        vote(views, "a")
    _, html = views.view("?tab=judge&bench=small")
    assert "nobody has finished voting yet" in html
    _, html = views.acted(ANN, json.dumps(asked))
    assert "Agreement with the judges" in html
    assert "12 votes in human_judgment/ann.jsonl" in html
    ballot = booth(bench).last()
    assert ballot is not None
    with pytest.raises(UsageError, match="ann has finished voting; to vote again, choose another name"):
        booth(bench).vote(ballot, "a")
    assert settled_files(bench, [bench.folder / "human_judgment" / "ann.jsonl"])[1] == []


def test_two_windows_of_a_voter_never_tear_the_file(bench: Bench) -> None:
    ballot = booth(bench).next()
    assert ballot is not None

    def many() -> None:
        for _ in range(10):
            booth(bench).vote(ballot, "b")

    windows = [threading.Thread(target=many) for _ in range(4)]
    for window in windows:
        window.start()
    for window in windows:
        window.join()
    path = bench.folder / "human_judgment" / "ann.jsonl"
    assert [row["winner"] for row in rows(path)] == ["model_b"] * 40
    assert list(booth(bench).cast.winners.values()) == [ballot.model_b]


def test_a_vote_that_cannot_be_written_says_so_and_stays_open(
    views: Views, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viewer.old.votes._PATIENCE", 0.0)
    path = bench.folder / "human_judgment" / "ann.jsonl"
    with Journal(path, state_of(bench)):
        html = vote(views, "a")
    assert "is being written by process" in html
    assert "0 of 12" in html
    assert "1 of 12" in vote(views, "a")


def test_a_torn_line_is_set_aside_and_the_votes_go_on(views: Views, bench: Bench) -> None:
    vote(views, "a")
    path = bench.folder / "human_judgment" / "ann.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.write('{"question_id": 1, "mod')
    assert "2 of 12" in vote(views, "b")
    assert len(rows(path)) == 2


def test_a_missing_turn_is_not_asked(bench: Bench) -> None:
    write(bench.answer_file(MODELS[0]), [answer(1, MODELS[0], "only the first")])
    asked = order(bench, "ann")
    assert not [one for one in asked if MODELS[0] in one[2:] and (one[0] == 2 or one[1] == 2)]
    assert len(asked) == 4 + 2


def test_a_category_alone_can_be_voted_on(views: Views) -> None:
    query = ANN + "&f.category=math"
    assert "0 of 6" in views.view(query)[1]
    assert "1 of 6" in vote(views, "a", query)


def test_a_name_with_votes_of_others_is_refused(views: Views, bench: Bench) -> None:
    row = {"question_id": 1, "model_a": "a", "model_b": "b", "winner": "tie", "judge": "expert_1", "turn": 1}
    write(bench.folder / "human_judgment" / "human.jsonl", [row])
    _, html = views.view("?tab=vote&f.voter=human")
    assert "human.jsonl holds votes by expert_1; choose another name than human" in html


@pytest.mark.parametrize("name", ["ann", "Ann-Marie 2", "Ödön", "\u674e\u660e", "x", "a.b"])
def test_plain_names_can_vote(name: str) -> None:
    assert check_voter(f" {name} ") == name


@pytest.mark.parametrize(
    "name", ["", "..", "../x", "a/b", "a\\b", "C:x", ".hidden", "a%2Fb", "_x", "a\nb", "x" * 61, "-v"]
)
def test_other_names_cannot(name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        check_voter(name)


@pytest.mark.parametrize(
    "item", ["", "1", "1 ffff", "99 0000000000000000", "../1 x", "1 " + "0" * 16], ids=lambda item: item or "nothing"
)
def test_a_ballot_that_does_not_exist_writes_nothing(item: str, views: Views, bench: Bench) -> None:
    fields = [["tab", "vote"], ["bench", "small"], ["f.voter", "ann"], ["item", item], ["choice", "a"]]
    _, html = views.acted(ANN, json.dumps(fields))
    assert "the vote is not written" in html
    assert not (bench.folder / "human_judgment").exists()


def test_read_only_takes_no_votes(bench: Bench) -> None:
    ballot = booth(bench).next()
    assert ballot is not None
    views = Views(Context(Store(bench.folder.parent, ["small"]), read_only=True))
    fields = [
        ["tab", "vote"],
        ["f.voter", "ann"],
        ["item", f"{ballot.question.question_id} {ballot.token}"],
        ["choice", "a"],
    ]
    state, _ = views.acted(ANN, json.dumps(fields))
    assert state.tab == "leaderboard"
    assert not (bench.folder / "human_judgment").exists()


# who is logged in


def as_user(views: Views, who: str, choice: str, query: str) -> str:
    """Vote as somebody who is logged in, on what is asked; return the page that follows."""
    html = views.view(query, who)[1]
    item = re.search(r'name="item" value="([^"]+)"', html)
    assert item is not None
    fields = [*parse(query).pairs(), ("item", item[1]), ("choice", choice)]
    return views.acted(query, json.dumps(fields), who)[1]


def test_who_is_logged_in_votes_under_that_name_whatever_the_address_says(views: Views, bench: Bench) -> None:
    state, html = views.view("?tab=vote&bench=small&f.voter=ann", "bob")
    assert state.looked_for("voter") == "bob"
    assert "Voting as <bdi><b>bob</b></bdi>" in html
    as_user(views, "bob", "a", ANN)
    assert not (bench.folder / "human_judgment" / "ann.jsonl").exists()
    assert [row["judge"] for row in rows(bench.folder / "human_judgment" / "bob.jsonl")] == ["bob"]


def test_nobody_finishes_or_changes_the_votes_of_another(views: Views, bench: Bench) -> None:
    as_user(views, "ann", "a", ANN)
    before = rows(bench.folder / "human_judgment" / "ann.jsonl")
    views.acted(ANN, json.dumps([*parse(ANN).pairs(), ("finish", "1")]), "bob")
    assert not booth(bench, "ann").finished
    assert booth(bench, "bob").finished
    item = f"{booth(bench).all_cast()[0].question.question_id} {booth(bench).all_cast()[0].token}"
    views.acted(ANN, json.dumps([*parse(ANN).pairs(), ("item", item), ("choice", "b")]), "bob")
    assert rows(bench.folder / "human_judgment" / "ann.jsonl") == before


def test_a_login_that_can_be_no_voter_is_told_so_and_is_offered_no_other_name(views: Views) -> None:
    html = views.view(ANN, "../x")[1]
    assert "cannot be a voter" in html
    assert 'name="f.voter" value=""' not in html
    assert "Your name" not in html


def test_an_address_cannot_say_who_is_logged_in(views: Views) -> None:
    assert views.view("?tab=vote&bench=small&who=ann")[0].who == ""
    assert "Your name" in views.view("?tab=vote&bench=small&who=ann")[1]


# votes seen again


def test_every_vote_is_listed_and_can_be_changed(views: Views, bench: Bench) -> None:
    for choice in ("a", "b", "tie", "bad"):
        vote(views, choice)
    page = views.view(f"{ANN}&f.show=votes")[1]
    found = [len(re.findall(rf"<td[^>]*>(?:<bdi>)?{said}<", page)) for said in ("A is better", "both are bad")]
    assert found == [1, 1]
    assert "secret" not in page
    links = [parse(html.unescape(found)) for found in re.findall(r'href="([^"]*f.show=vote%3A[^"]*)"', page)]
    assert len(links) == 4
    first = links[-1].query()
    assert "You voted on this before: A is better." in views.view(first)[1]
    assert "My votes</h2>" in vote(views, "b", first)
    cast = rows(bench.folder / "human_judgment" / "ann.jsonl")
    names = ("question_id", "turn", "model_a", "model_b")
    assert [cast[0][name] for name in names] == [cast[-1][name] for name in names]
    assert (cast[0]["winner"], cast[-1]["winner"]) == ("model_a", "model_b")


@pytest.mark.parametrize("show", ["vote:", "vote:0 1", "vote:00 x", "vote:zz 1 2"])
def test_a_vote_that_is_not_there_is_not_looked_at_again(show: str, views: Views) -> None:
    vote(views, "a")
    page = views.view(f"{ANN}&f.show={show.replace(' ', '+')}")[1]
    assert "You voted on this before" not in page
    assert 'name="item"' in page


# votes shown to others


def test_votes_are_shown_on_their_item_once_the_voter_has_finished(views: Views, bench: Bench) -> None:
    ballot = booth(bench).next()
    assert ballot is not None
    vote(views, "a")
    item = {"question": ballot.question.question_id, "bench": "small", "model": [ballot.model_a, ballot.model_b]}
    compare, answers = (f"?tab={tab}&{urlencode(item, doseq=True)}" for tab in ("compare", "answers"))
    said = f"ann: {ballot.model_a} wins"
    for query in (compare, answers):
        assert said not in views.view(query)[1]
    assert "The votes of ann are left out until they have finished voting." in views.view(compare)[1]
    booth(bench).finish()
    for query in (compare, answers):
        assert said in views.view(query)[1]
    as_user(views, "bob", "a", ANN)
    assert said not in views.view(compare, "bob")[1]
    assert "once you have finished voting" in views.view(compare, "bob")[1]


def test_find_tells_nothing_of_votes_that_are_still_being_cast(views: Views, bench: Bench) -> None:
    query = "?tab=find&bench=small&mode=pairwise-all&f.flag=humans"
    for _ in range(12):
        vote(views, "bad")
    page = views.view(query)[1]
    assert "0 of 2 pairs" in page
    assert "The votes of ann are left out until they have finished voting." in page
    booth(bench).finish()
    assert "2 of 2 pairs" in views.view(query)[1]
    as_user(views, "bob", "a", ANN)
    assert "0 of 2 pairs" in views.view(query, "bob")[1]


def test_pairs_that_a_judge_has_compared_come_first(views: Views, bench: Bench) -> None:
    for voter in ("ann", "bob", "eve", "kim"):
        as_user(views, voter, "a", ANN)
        (key,) = booth(bench, voter).cast.winners
        assert key[2] == JUDGED


def test_a_voter_may_choose_a_model_whose_name_is_in_no_address(views: Views) -> None:
    _, welcome = views.view("?tab=vote&bench=small")
    (sign,) = re.findall(r'<option value="(\w+)">pairs with secret-z', welcome)
    _, page = views.view(ANN)
    assert "0 of 12" in page
    state, page = views.view(f"{ANN}&f.with={sign}")
    assert "0 of 8" in page
    assert "secret" not in page + state.query()
