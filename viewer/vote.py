"""The tab Vote: two answers without names, on random sides; a vote is a click or a key.

No model's name is on the page or in the address until the voter asks for the result.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from harness.errors import MissingError, UsageError
from harness.reporting.html import table_html
from harness.reporting.page import Column, Table
from harness.results import summarize
from harness.results.scores import VOTE
from viewer import pages, text
from viewer.ballots import Ballot, Voter
from viewer.controls import Fields, named
from viewer.data import Data
from viewer.judges import PEOPLE, agreement_of
from viewer.pages import Site
from viewer.people import check_name
from viewer.state import View

PLANS = (10, 20, 50, 100, 200)
BUTTONS = (
    ("a", "A is better", "a 1"),
    ("b", "B is better", "b 2"),
    ("tie", "Tie", "t 3"),
    ("bad", "Both are bad", "x 4"),
)


def blind(view: View, who: str) -> View:
    """Return a view without what could tell whose answers these are; who is logged in votes."""
    names = ("bench", "category", "plan", "show", "part")
    values = {name: getattr(view, name) for name in names}
    return View("vote", voter=who or view.voter, **values)


def show(data: Data, view: View, site: Site) -> str:
    """Return the tab."""
    if len(data.bench.answered_models()) < 2:
        return pages.notice("Voting needs answers of two models; gen_answer makes them.")
    if not view.voter:
        return pages.render("welcome.html", voter=view.voter)
    try:
        voter = Voter(data, view.voter, view.category)
    except UsageError as error:
        return pages.notice(str(error)) + pages.render("welcome.html", voter=view.voter)
    done, plan = len(voter.votes), _plan(view, voter)
    if view.show == "result":
        return _result(data, view, voter, site)
    if view.show == "votes":
        cast = [(b, voter.choice_of(b), site.href(view.to(show=b.token))) for b in voter.cast()]
        return pages.render(
            "votes.html", voter=voter.name, cast=cast, back=site.href(view.to(show=""))
        )
    ballot = _again(voter, view.show) or (voter.next() if done < plan else None)
    links = {name: site.href(view.to(show=name)) for name in ("last", "votes", "result")}
    return pages.render(
        "vote.html",
        voter=voter.name,
        done=done,
        plan=plan,
        links=links if voter.votes else {},
        before=voter.choice_of(ballot) if ballot is not None else "",
        ballot=ballot,
        turns=sides(data, ballot) if ballot is not None else (),
        buttons=BUTTONS,
    )


def fields(data: Data, view: View) -> Fields:
    """Return what can be chosen: what to vote on, or how many votes."""
    try:
        voter = Voter(data, view.voter, view.category) if view.voter else None
    except UsageError:
        voter = None
    if voter is None:
        categories = [question.category for question in data.bench.questions]
        return Fields(view, {"category": named(categories)})
    plan = _plan(view, voter)
    plans = {str(n): f"{n} votes" for n in sorted({*PLANS, plan}) if n < voter.total}
    return Fields(view.to(plan=str(plan)), {"plan": {**plans, str(voter.total): "all"}})


def _plan(view: View, voter: Voter) -> int:
    """Return how many votes a voter wants to cast."""
    wanted = int(view.plan) if view.plan.isdecimal() and len(view.plan) < 8 else 50
    return min(voter.total, wanted)


def act(data: Data, view: View, fields: Mapping[str, str]) -> View:
    """Write a vote, or begin; return the view that follows.

    Raises:
        UsageError: there is no name, or no such vote.
        MissingError: the answers are no longer there.
    """
    if "begin" in fields:
        name = view.voter or check_name(fields.get("voter", ""))
        return replace(view, voter=name, show="")
    voter = Voter(data, view.voter, view.category)
    ballot = voter.by_token(fields.get("item", ""))
    if ballot is None:
        raise MissingError("not written: these two answers are no longer there")
    voter.vote(ballot, fields.get("choice", ""))
    return view.to(show="votes" if "." in view.show else "")


def sides(data: Data, ballot: Ballot) -> list[tuple[int, str, list[str]]]:
    """Return each turn up to the ballot's: its number, what the user says, both answers as HTML."""
    answers = data.answers(ballot.question.question_id)
    models = [model for model in (ballot.model_a, ballot.model_b) if model in answers]
    both = [answers[model].choices[0] for model in models]
    turns = []
    for turn in range(1, ballot.turn + 1):
        bodies = []
        for choice in both:
            written = "".join(choice.turns[turn - 1 : turn])
            if choice.user:  # a conversation with a played user is voted on as a whole
                spoken = zip(choice.user, [*choice.turns, ""], strict=False)
                written = "\n\n".join(f"**User:** {words}\n\n{reply}" for words, reply in spoken)
            bodies.append(text.styled(written))
        turns.append((turn, ballot.question.turns[turn - 1], bodies))
    return turns


def _again(voter: Voter, show: str) -> Ballot | None:
    """Return the vote that is to be looked at again."""
    if show == "last":
        return next(iter(voter.cast()), None)
    return voter.by_token(show) if "." in show else None


def _result(data: Data, view: View, voter: Voter, site: Site) -> str:
    """Return how the models fared with the voter, and how far judges agree."""
    scores = data.scores.of(metric=VOTE, judges=[voter.name])
    rows: list[dict[str, Any]] = [
        {"model": of["model"], "win": of.win, "tie": of.tie, "loss": of.loss, "rate": of.mean.value}
        for of in summarize(scores)
    ]
    rows.sort(key=lambda row: -row["rate"])
    columns = [
        Column("model"),
        Column("rate", "win rate", ".2"),
        Column("", "win/tie/loss", draw="record"),
    ]
    agreement = [row for row in agreement_of(data, voter.name) if row["judge"] != PEOPLE]
    compared = [
        Column("judge"),
        Column("agrees", "agrees with you %", "%"),
        Column("agrees", "95% interval", "interval%"),
        Column("compared", "votes compared"),
    ]
    return pages.render(
        "result.html",
        voter=voter.name,
        count=len(voter.votes),
        models=Markup(table_html(Table("your votes", columns, rows))),
        judges=Markup(table_html(Table("judges", compared, agreement))) if agreement else "",
        back=site.href(view.to(show="")),
    )
