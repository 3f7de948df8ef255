"""People's votes -> examples shown to the judge before each pair, and whether they raise its agreement with people.

The questions are split: some give the examples, the judge is measured on the others, so no vote that it has seen counts
in its measures. An example is a pair on which at least two thirds of the votes agree; in turn, the answer shown
second, the one shown first, and neither is the better one, from as many categories as possible.

    human_agreement   as in `judges`, on the pairs of the other questions that people voted on
    consistent        pairs that got the same verdict in both orders (`position`)

Both are about the same pairs without and with the examples, and the difference is paired by question.

    judge_examples("gpt-4.1", ["human.jsonl"], shots=3)        # writes data/mt_bench/mt_bench_examples/

Source: Zheng et al. 2023 (arXiv 2306.05685), section 3.4: with three examples, GPT-4's consistency rose from 65.0% to
77.5%.
"""

import inspect
import pathlib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from harness.old.bench import Bench, load_bench, spread
from harness.old.errors import MissingError, UsageError
from harness.old.jsonl import need_own, put_text, storing
from harness.old.judging.builtin import notices
from harness.old.judging.planned import JudgmentPlan
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from harness.old.judging.sets import JudgeSet, load_judge_set
from harness.old.judging.sets.judge_set import Example
from harness.old.judging.verdicts.stated import stated
from harness.old.judgments.reading import read_judgments
from harness.old.meta_evaluation.annotations import PEOPLE, Items, Judge, questions_of, read_items
from harness.old.meta_evaluation.choosing import difference
from harness.old.meta_evaluation.judges import judge_rows, values_of
from harness.old.meta_evaluation.report import Report, columns, interval_notes
from harness.old.meta_evaluation.votes import Item, mode, vote_files
from harness.old.names import file_stem
from harness.old.records import Question, Side
from harness.old.results.cost import Prices
from harness.old.results.pairs.position import position_rows
from harness.old.results.query import Query
from harness.old.running.options import RunOptions
from harness.old.running.watch import Watcher, nobody
from harness.old.written import takes_only, toml_value

SHOTS = 3
"""Examples, if no number is given."""
_MARK = "# Made by judge_report examples: pairs that people voted on."
_LONGEST = 8000
"""Characters of an example's texts together; longer ones would cost more than they teach."""
_CLEAR = 2 / 3
"""The share of the votes on an example that must agree."""


class Shown(NamedTuple):
    """A pair that became an example."""

    item: Item
    example: Example


@dataclass(frozen=True, slots=True)
class ExamplesPlan:
    """What has to be judged to see what examples do."""

    bench: Bench
    judge_set: pathlib.Path
    """The folder of the set with examples, which has been written."""
    shown: tuple[Shown, ...]
    votes: tuple[pathlib.Path, ...]
    query: Query
    plans: tuple[JudgmentPlan, JudgmentPlan]
    """The same pairs, without and with examples."""

    @property
    def calls(self) -> int:
        """Calls to the judge, if none has to be repeated."""
        return sum(plan.calls for plan in self.plans)


def plan_examples(
    judge_model: str,
    votes: Sequence[pathlib.Path | str] = (),
    bench_name: str = "mt_bench",
    *,
    shots: int = SHOTS,
    first_n: int | None = None,
    sample_n: int | None = None,
    output: pathlib.Path | str | None = None,
    options: JudgeOptions | None = None,
    exclude: Sequence[str] = (),
    data_dir: pathlib.Path | str = "data",
    seed: int = 0,
) -> ExamplesPlan:
    """Return the plan to judge the same pairs without and with examples; the set is written, no judge is called.

    Args:
        judge_model: who judges.
        votes: files of votes on pairs (default: the benchmark's `human_judgment/`).
        bench_name: the benchmark.
        shots: how many examples.
        first_n: measure on the first N of the other questions (default: all).
        sample_n: measure on N of them, spread over the categories (default: all).
        output: the folder of the set to write (default: SET_examples in the benchmark's folder).
        options: how judgments are made; their judge set is the one that gets examples.
        exclude: patterns of voters to leave out.
        data_dir: the data folder.
        seed: of the choice of examples.

    Raises:
        UsageError: too few clear votes, or the judge set states no winners.
        MissingError: votes, answers or a key are missing.
        StorageError: the set cannot be written.
    """
    asked = options or JudgeOptions()
    bench = load_bench(bench_name, data_dir)
    query = Query.of("pairwise-all", bench_name=bench_name, data_dir=data_dir, exclude=exclude)
    paths = vote_files(query, votes)
    base = load_judge_set(asked.judge_set, bench.folder)
    found = read_items(query, paths, [], Prices(None), bench)
    shown = tuple(picked(found, bench, base, shots, seed))
    folder = pathlib.Path(output) if output is not None else bench.folder / f"{file_stem(base.name)}_examples"
    _write_set(folder, base, asked.judge_set, [one.example for one in shown])
    given = {one.example.turns for one in shown}
    used = {one.item.question_id for one in shown}
    voted = {item.question_id for item in found.people} - used
    rest = [
        question
        for question in bench.questions
        if question.question_id in voted and not any(question.turns[: len(turns)] == turns for turns in given)
    ]
    measured = spread(rest[:first_n], sample_n)
    if not measured:
        raise UsageError("every question with votes gives an example; ask for fewer with --shots, or vote on more")
    without, with_examples = (
        plan_judgments(
            [judge_model], bench, "pairwise-all", replace(asked, judge_set=name, votes=tuple(paths)), questions=measured
        )
        for name in (asked.judge_set, str(folder))
    )
    return ExamplesPlan(bench, folder, shown, tuple(paths), query, (without, with_examples))


def picked(found: Items, bench: Bench, base: JudgeSet, shots: int, seed: int = 0) -> Iterator[Shown]:
    """Yield the pairs to show, each of another question: clear ones with the most votes, spread over categories.

    Raises:
        UsageError: there are fewer such pairs.
    """
    forms = [template.form for template in base.templates.values() if template.kind == "compare"]
    if not forms:
        raise UsageError(f"the judge set {base.name} has no template for pairs; examples are pairs")
    ties = all(stated("tie", form.format, scale=form.scale, sides=form.sides) is not None for form in forms)
    wanted: tuple[Side, ...] = ("B", "A", "tie") if ties else ("B", "A")
    clear = _clear(found, bench, base)
    random.Random(f"examples {seed}").shuffle(clear)
    clear.sort(key=lambda one: -min(3, len(found.people[one.item])))
    used: list[Question] = []
    for number in range(shots):
        side = wanted[number % len(wanted)]
        free = [one for one in clear if one.question not in used and (ties or one.value != 0.5)]
        fitting = [one for one in free if (one.value == 0.5) == (side == "tie")] or free
        if not fitting:
            raise UsageError(
                f"{number} of {shots} examples can be made from the votes: pairs of different questions, up to "
                f"{_LONGEST} characters long, on which two votes in three agree; ask for fewer with --shots"
            )
        categories = {question.category for question in used}
        chosen = next((one for one in fitting if one.question.category not in categories), fitting[0])
        used.append(chosen.question)
        yield Shown(chosen.item, _example(bench, chosen, wanted="A" if side == "A" else "B"))


class _Clear(NamedTuple):
    """A pair that can be shown, and the people's verdict."""

    item: Item
    question: Question
    value: float


def _clear(found: Items, bench: Bench, base: JudgeSet) -> list[_Clear]:
    """Return the pairs that can be shown."""
    clear = []
    for item in found.people:
        votes = values_of(found.people[item])
        question = bench.question(item.question_id)
        if not votes or item not in found.texts or question is None or not base.is_for(question, item.turn):
            continue
        value = mode(votes)
        turns = question.turns[: item.turn]
        length = sum(map(len, (*turns, *_turns(bench, item.first, item), *_turns(bench, item.second, item))))
        if votes.count(value) >= _CLEAR * len(votes) and length <= _LONGEST:
            clear.append(_Clear(item, question, value))
    return clear


def _turns(bench: Bench, model: str, item: Item) -> tuple[str, ...]:
    return bench.answers(model)[item.question_id].choices[0].turns[: item.turn]


def _example(bench: Bench, chosen: _Clear, *, wanted: Side) -> Example:
    """Return a pair as an example; a decided one in the order in which the wanted side is the better one."""
    item, question, value = chosen
    verdict: Side = "tie" if value == 0.5 else wanted
    turned = (value == 1.0) == (wanted == "B")
    models = (item.second, item.first) if turned else (item.first, item.second)
    one, other = (_turns(bench, model, item) for model in models)
    reference = bench.reference_answers().get(item.question_id, ())[: item.turn] if bench.references() else ()
    whole = reference if len(reference) == item.turn else ()
    return Example(question.turns[: item.turn], one, other, verdict, question.category, whole)


def _write_set(folder: pathlib.Path, base: JudgeSet, given: str, examples: Sequence[Example]) -> None:
    """Write the set with examples, replacing an earlier one that was made this way."""
    path = folder / "judge_set.toml"
    extends = str(pathlib.Path(given).resolve()) if pathlib.Path(given).exists() else given
    title = f"{base.name}, with {len(examples)} examples by people"
    said = {"extends": extends, "name": folder.name, "version": base.version, "title": title}
    lines = [_MARK, *(f"{name} = {toml_value(value)}" for name, value in said.items())]
    names = ("verdict", "category", "turns", "answer_a", "answer_b", "reference")
    for example in examples:
        lines += ["", "[[examples]]", *(f"{name} = {toml_value(getattr(example, name))}" for name in names)]
    with storing(path):
        folder.mkdir(parents=True, exist_ok=True)
    need_own(path, re.compile(re.escape(_MARK.encode())), "a judge set with examples")
    put_text(path, "\n".join(lines) + "\n")


def run_examples(
    plan: ExamplesPlan, running: RunOptions = RunOptions(), *, watch: Watcher = nobody, seed: int = 0
) -> Report:
    """Judge what `plan_examples` has planned, and return what the examples do.

    Raises:
        EndpointError: the judge cannot be called at all.
        Interrupted: the user stopped the run. In every case what was done is kept.
    """
    done = [run_judgments(one, running, watch=watch) for one in plan.plans]
    paths = [one.paths[0] for one in done]
    found = read_items(plan.query, plan.votes, paths, Prices(None), plan.bench)
    measured = {question.question_id for question in plan.plans[0].questions}
    found = found.only(lambda item: item.question_id in measured)
    found = replace(found, questions=questions_of(found.people), seed=seed)
    known = {row.judge: row for row in judge_rows(found)}
    judges = [Judge(one.judges[0].judge, f"{one.judge_set.name} {one.judge_set.version}") for one in plan.plans]
    if lacking := [judge.judge_set for judge in judges if judge not in known]:
        raise MissingError(f"no pair was judged with {', '.join(lacking)}; run it again")
    rows = []
    for judge, path, shown in zip(judges, paths, (0, len(plan.shown)), strict=True):
        own = known[judge]
        row = {"judge_set": judge.judge_set, "examples": shown, "human_agreement": own.measures["human_agreement"]}
        judged = read_judgments(path).observations.keep(asked=lambda asked: asked.question_id in measured)
        # None where one order was judged only.
        row |= {"consistent": position_rows(judged, seed=seed)[0]["consistent_share"]}
        row |= {"parsed": own.parsed, "unparsed": own.unparsed}
        rows.append(columns(row))
    gained = difference(found, judges[1], judges[0])
    rows.append(columns({"judge_set": "with less without", "examples": None, "human_agreement": gained}))
    people = known[PEOPLE].measures["human_agreement"]
    notes = [
        f"shown: {', '.join(f'question {one.item.question_id} ({one.example.verdict})' for one in plan.shown)}",
        f"measured on {len(found.people)} pairs of {len(found.questions)} other questions that people voted on",
        *([f"people agree with each other {people.value:.3f}"] if people.value is not None else []),
        f"the set with examples is {plan.judge_set}; judge with it: gen_judgment --judge-set {plan.judge_set}",
        *notices([judges[0].name]),
    ]
    notes += interval_notes([gained])
    failures = [failure for one in done for failure in one.tally.failures]
    return Report("examples", judges[0].name, plan.bench.name, rows, {}, notes, tuple(paths), failures)


@takes_only(inspect.signature(plan_examples).parameters)
def judge_examples(
    judge_model: str,
    votes: Sequence[pathlib.Path | str] = (),
    bench_name: str = "mt_bench",
    *,
    running: RunOptions = RunOptions(),
    watch: Watcher = nobody,
    seed: int = 0,
    **how: Any,
) -> Report:
    """Return whether a judge agrees with people more when it sees examples; `how` is that of `plan_examples`."""
    plan = plan_examples(judge_model, votes, bench_name, seed=seed, **how)
    return run_examples(plan, running, watch=watch, seed=seed)
