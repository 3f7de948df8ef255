"""Voting is blind, goes on where it was left, and writes what everybody can read."""

import html
import pathlib
import re

import msgspec
import pytest

from harness import store
from harness.types import Vote
from tests.viewer.small import MODELS, small
from viewer.app import Views
from viewer.data import Home


def send(views: Views, query: str, who: str = "", **fields: str) -> tuple[str, str]:
    pairs = [*fields.items(), ("view", query)]
    shown = views.act(msgspec.json.encode(pairs).decode(), who)
    return shown.view.query(), shown.page


def item(page: str) -> str:
    return str(re.findall(r'name="item" value="([^"]*)"', page)[0])


def test_no_name_of_a_model_is_on_the_page_or_in_the_address(views: Views) -> None:
    query, page = send(views, "?tab=vote", begin="1", voter="eva")
    for _ in range(8):
        plain = re.sub(r"(ant|bee|cat) says|Yes, (ant|bee|cat)", "", html.unescape(page))
        assert not re.search(rf"\b({'|'.join(MODELS)})\b", query + plain)
        assert not re.search(rf"\b({'|'.join(MODELS)})\b", str(views.show(query).fields))
        query, page = send(views, query, item=item(page), choice="a")


def test_votes_are_written_and_the_last_one_on_an_item_counts(
    views: Views, tmp_path: pathlib.Path
) -> None:
    query, page = send(views, "?tab=vote", begin="1", voter="eva")
    first = item(page)
    for choice in ("a", "bad"):
        send(views, query, item=first, choice=choice)
    path = tmp_path / "small" / "human_judgment" / "eva.jsonl"
    assert [own.row.winner for own in store.rows(path, Vote)] == ["model_a", "tie (bothbad)"]
    vote = next(iter(store.latest(path, Vote).values()))
    assert vote.judge == "eva"
    assert re.fullmatch("[0-9a-f]{16}", vote.answers or "")
    assert "1 of 36" in views.show(query)[1]
    assert item(views.show(query)[1]) != first


def test_every_question_comes_once_before_any_comes_again(views: Views) -> None:
    query, page = send(views, "?tab=vote", begin="1", voter="eva")
    seen = []
    for _ in range(12):
        seen.append(item(page).partition(".")[2])
        query, page = send(views, query, item=item(page), choice="tie")
    assert sorted(seen) == sorted(2 * ["1", "2", "3", "4", "5", "6"])


def test_sides_are_swapped_for_about_half(views: Views) -> None:
    from viewer.ballots import Voter

    ballots = list(Voter(views.home.data(), "eva").ballots())
    swapped = sum(ballot.model_a > ballot.model_b for ballot in ballots)
    assert len(ballots) == 36
    assert 6 < swapped < 30


@pytest.mark.parametrize("name", ["", "  ", "../x", "a/b", "x" * 61])
def test_a_name_that_cannot_be_is_refused_with_a_message(views: Views, name: str) -> None:
    _, page = send(views, "?tab=vote", begin="1", voter=name)
    assert "name" in re.findall(r'role="status"><p>([^<]*)', page)[0]


def test_who_is_logged_in_votes_as_nobody_else(views: Views, tmp_path: pathlib.Path) -> None:
    query, page = send(views, "?tab=vote&voter=bob", who="eva", begin="1", voter="ann")
    send(views, query.replace("eva", "ann"), who="eva", item=item(page), choice="a")
    assert (tmp_path / "small" / "human_judgment" / "eva.jsonl").exists()
    assert len(list(store.rows(tmp_path / "small" / "human_judgment" / "ann.jsonl", Vote))) == 6


def test_read_only_has_no_vote(tmp_path: pathlib.Path) -> None:
    views = Views(Home(small(tmp_path)), read_only=True)
    assert views.show("?tab=vote")[0].tab == "board"
    send(views, "?tab=vote&voter=eva", item="0.1", choice="a")
    assert not (tmp_path / "small" / "human_judgment" / "eva.jsonl").exists()


def test_the_result_shows_the_models_and_the_judges(views: Views) -> None:
    page = views.show("?tab=vote&voter=ann&show=result").page
    assert "6 votes by ann" in page
    assert re.search(r">lu</th>.*?>100<", page, re.S)
