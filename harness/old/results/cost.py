"""Answers and judgments → what they cost: stored tokens by model, at today's prices.

    answers by gpt-4.1: 160 calls, 61,000 prompt and 98,000 reply tokens
    61,000 × $2.00 + 98,000 × $8.00 a million = $0.91

Calls whose provider counted no tokens, and rows of other tools, are counted as unstated. Rows that newer ones replaced
are not looked at, nor are calls that failed.
"""

import pathlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from harness.old.bench import load_bench
from harness.old.chat.catalog import load_catalog
from harness.old.chat.price import Price
from harness.old.chat.prices import FREE, list_price
from harness.old.errors import MissingError
from harness.old.jsonl import logical_files, read_rows
from harness.old.jsonl.copies import local_file
from harness.old.judgments.row import JudgedRow, judged_rows
from harness.old.names import name_of, plain_model
from harness.old.records import Reply
from harness.old.rows import answer_choices, details_in, reply_from_row
from harness.old.written import takes_only


@dataclass(slots=True)
class CostRow:
    """The cost of one model's answers, of its replies as the simulated user, or of one judge's judgments."""

    what: Literal["answers", "users", "judgments"]
    model: str
    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Of the prompt tokens those that came from the provider's cache."""
    written_tokens: int = 0
    """Prompt tokens that the provider wrote to its cache, if it reports them."""
    reply_tokens: int = 0
    cost: float | None = 0.0
    """Dollars, of the calls that state their tokens; None if the price is unknown."""
    unstated: int = 0
    """Calls that state no tokens."""

    def row(self) -> dict[str, Any]:
        """Return the row of a table."""
        return {name: getattr(self, name) for name in self.__slots__}


CostRows: TypeAlias = dict[tuple[str, str], CostRow]
"""By what the calls were for, and whose they were."""


@takes_only()
def show_cost(
    *,
    bench_name: str | None = None,
    data_dir: pathlib.Path | str = "data",
    input_file: pathlib.Path | str | None = None,
    judge_model: str | Sequence[str] | None = None,
    model_list: Sequence[str] | None = None,
    models_file: pathlib.Path | str | None = None,
) -> list[CostRow]:
    """Return what the answers and judgments of a benchmark cost, or the judgments of one file.

    `judge_model` names the judges, `model_list` the models whose answers and judgments are counted (default: all); a
    pair counts if either of its models is named.

    Raises:
        MissingError: there is nothing to count.
        DataError: a line of a file is not what it must be.
    """
    judges = [judge_model] if isinstance(judge_model, str) else judge_model
    rows: CostRows = {}
    prices = Prices(models_file)
    if input_file is None:
        folder = load_bench(bench_name or "mt_bench", data_dir).folder
        for path in logical_files(folder / "model_answer"):
            model = name_of(path.stem)
            if not model_list or model in model_list:
                for line, answer in read_rows(path):
                    answer_choices(answer, path, line)
                    add_answer(rows, prices, model, answer)
        where, files = str(folder), logical_files(folder / "model_judgment")
    else:
        where, files = str(input_file), [local_file(input_file)]
    for path in files:
        for row in judged_rows(path):
            if row.source.voter or (judges and row.source.judge not in judges):
                continue
            if not model_list or not set(row.models).isdisjoint(model_list):
                add_judgment(rows, prices, row)
    if not rows:
        raise MissingError(f"{where}: no answers and no judgments to count the cost of")
    return list(rows.values())


class Prices:
    """The price of each model: models.toml's, else that of the list by the name, else by the model that replied."""

    def __init__(self, models_file: pathlib.Path | str | None) -> None:
        self._entries = load_catalog(models_file).entries

    def cost(self, model: str, reply: Reply) -> float | None:
        """Return the dollars that a model's reply cost; None if its price is unknown, or its tokens are."""
        price = self._price(model, reply)
        return None if price is None else price.cost(reply)

    def _price(self, model: str, reply: Reply) -> Price | None:
        """Return the price of a model that has replied; its provider may have called it something else."""
        model = plain_model(model)
        entry = self._entries.get(model)
        if entry is not None and entry.price is not None:
            return entry.price
        if "template" in reply.applied:  # which local weights alone state
            return FREE
        sent = model if entry is None or entry.model is None else entry.model
        return list_price(sent) or (list_price(reply.model) if reply.model else None)


class Spent(NamedTuple):
    """What one judgment took."""

    dollars: float | None
    """None if a call states no tokens, or the price is unknown."""
    seconds: float | None
    """The sum over all calls; None if one of them is unknown."""


def spent_on(row: JudgedRow, prices: Prices) -> Spent:
    """Return what a judgment took: both games of a pair, and every attempt; from a cache as if it were not."""
    dollars: float | None = 0.0
    seconds: float | None = 0.0
    calls = [reply_from_row("", details) for details in _judgment_calls(row)]
    for reply in calls:
        cost = prices.cost(row.source.judge, reply)
        dollars = None if cost is None or dollars is None else dollars + cost
        seconds = None if reply.seconds is None or seconds is None else seconds + reply.seconds
    return Spent(dollars, seconds) if calls else Spent(None, None)


def add_answer(rows: CostRows, prices: Prices, model: str, answer: Mapping[str, Any]) -> None:
    """Add what the row of an answer cost."""
    _count(rows, prices, "answers", model, _answer_calls(answer))
    if isinstance(user := answer.get("user"), dict) and isinstance(user.get("model"), str):
        _count(rows, prices, "users", user["model"], _user_calls(answer))


def add_judgment(rows: CostRows, prices: Prices, row: JudgedRow) -> None:
    """Add what the row of a judgment cost."""
    _count(rows, prices, "judgments", row.source.judge, _judgment_calls(row))


def _count(
    rows: CostRows,
    prices: Prices,
    what: Literal["answers", "users", "judgments"],
    model: str,
    calls: Iterator[Mapping[str, Any]],
) -> None:
    total = rows.setdefault((what, model), CostRow(what, model))
    for details in calls:
        reply = reply_from_row("", details)
        if reply.from_cache or reply.given is not None:  # paid for where it was made
            continue
        total.calls += 1
        usage = reply.usage
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            total.unstated += 1
            continue
        total.prompt_tokens += usage.prompt_tokens
        total.cached_tokens += usage.cached_tokens or 0
        total.written_tokens += usage.written_tokens or 0
        total.reply_tokens += usage.completion_tokens
        cost = prices.cost(model, reply)
        total.cost = None if cost is None or total.cost is None else total.cost + cost


def _answer_calls(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the details of each reply of an answer; empty ones where the row has none."""
    return (about for about, _ in details_in(row))


def _user_calls(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the details of each message of a simulated user."""
    for choice in row["choices"]:
        said = choice.get("user_details")
        yield from (one for one in (said if isinstance(said, list) else ()) if isinstance(one, dict))


def _judgment_calls(row: JudgedRow) -> Iterator[Mapping[str, Any]]:
    """Yield the details of each reply of a judgment, those included that gave no verdict and were asked again."""
    for words in row.words:
        earlier = words.details.get("earlier_attempts")
        yield from (one for one in (earlier if isinstance(earlier, list) else ()) if isinstance(one, dict))
        yield words.details
