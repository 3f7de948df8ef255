"""AlpacaEval's annotations.json as judgments of ours, and judgments back as a file that alpaca_eval reads.

    {"instruction": "...", "output_1": "...", "generator_1": "gpt4_1106_preview", "output_2": "...",
     "generator_2": "my-model", "annotator": "weighted_alpaca_eval_gpt4_turbo", "preference": 1.27}

preference 1 is fully for output_1, the baseline's; 2 for output_2, the model's; 1.5 (and 0, in old files) is a tie. A
null is a judge's failure: it is counted and gives no judgment, so that the next gen_judgment tries it again. If the
judge set that the annotator names exists, the rows are as current as our own, and nothing is judged twice. The file
does not state which output was shown first; it follows from the instruction and the set's seed.

Source: alpaca_eval 0.6.6, `annotators/pairwise_evaluator.py`.
"""

import json
import math
import pathlib
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.old.bench import Bench, load_bench
from harness.old.errors import TurnbenchError, UsageError
from harness.old.importing.alpaca_eval import NAME, instruction_of
from harness.old.importing.answers import add_answers, expanded
from harness.old.importing.back import rows_to_write
from harness.old.importing.folder import ImportFolder
from harness.old.importing.items import BadRecordError, Item, label_of, optional_text, text_of
from harness.old.importing.records import ImportReport, PathLike, Progress, read_records
from harness.old.jsonl import Journal, is_there, storing
from harness.old.jsonl.copies import need_near
from harness.old.judging.asking import request_about
from harness.old.judging.gathering import gather
from harness.old.judging.made_from import made_from
from harness.old.judging.materials import Materials
from harness.old.judging.options import JudgeOptions
from harness.old.judging.sets import JudgeSet, load_judge_set
from harness.old.judgments.case import LOGPROBS, outcome
from harness.old.judgments.judgment import Judgment, MadeFrom, Match, Parsed, Winner
from harness.old.judgments.row import JudgedRow, judged_rows
from harness.old.judgments.writing import pair_to_row
from harness.old.names import check_bench_name, check_model_name
from harness.old.records import UNSTATED, Message, Question, QuestionId, Reply, Request, Side, content_hash
from harness.old.written import takes_only


class Annotation(NamedTuple):
    """One record of a file."""

    instruction: str
    dataset: str
    baseline: str
    model: str
    outputs: tuple[str, str]
    """The baseline's and the model's."""
    annotator: str
    preference: float | None
    """Of 1 how much goes to the model; None where the judge failed."""
    completion: str


def holds_annotations(path: PathLike) -> bool:
    """Return whether the first record of a file is an annotation, not an output."""
    try:
        first = next(iter(read_records(pathlib.Path(path))), None)
    except TurnbenchError:
        return False
    return first is not None and first.value is not None and {"output_1", "output_2"} <= first.value.keys()


@takes_only()
def import_annotations(
    files: Sequence[PathLike],
    bench_name: str,
    *,
    data_dir: PathLike = "data",
    judge_model: str | None = None,
    progress: Progress = lambda count: None,
) -> ImportReport:
    """Write annotations as judgments of a benchmark, which is created from them if it does not exist; return a report.

    `judge_model` names the judge (default: the one stated in the judge set, else the annotator).

    Raises:
        UsageError: an output differs from the existing answer.
        DataError: a file can't be read, or none of its records is valid.
        StorageError: the folder can't be written.
    """
    report = ImportReport(need_near(data_dir) / check_bench_name(bench_name))
    read = [one for path in expanded(files) for one in report.good(path, annotation, progress)]
    if not read:
        raise report.nothing("no record is a valid annotation", pathlib.Path(files[0]))
    if not (report.folder / "question.jsonl").exists():
        report.questions = _make_bench(report.folder, read)
    bench = load_bench(bench_name, data_dir)
    questions = {question.turns[0]: question for question in bench.questions}
    strange = [one for one in read if one.instruction not in questions]
    if strange:
        shown = " ".join(strange[0].instruction.split())[:60]
        raise UsageError(
            f"{len(strange)} annotations are for instructions not in {bench.name} (the first: {shown!r}); "
            "give another --bench-name"
        )
    said: dict[str, dict[QuestionId, str]] = defaultdict(dict)
    for one in read:
        for model, text in zip((one.baseline, one.model), one.outputs, strict=True):
            said[model][questions[one.instruction].question_id] = text
    add_answers(bench, said)
    for annotator in dict.fromkeys(one.annotator for one in read):
        own = [one for one in read if one.annotator == annotator]
        _write_judgments(bench, annotator, own, questions, judge_model, report)
    return report


def annotation(value: Mapping[str, Any]) -> Annotation:
    """Return the contents of a record.

    Raises:
        BadRecordError: a field is missing or invalid.
    """
    return Annotation(
        instruction_of(value),
        label_of(value, "dataset", usual=NAME),
        check_model_name(text_of(value, "generator_1")),
        check_model_name(text_of(value, "generator_2")),
        (text_of(value, "output_1", empty=True), text_of(value, "output_2", empty=True)),
        text_of(value, "annotator"),
        _preference(value.get("preference")),
        optional_text(value, "raw_completion"),
    )


def _preference(given: Any) -> float | None:
    """Return of 1 how much goes to the model; None of a failure: null, NaN, or -1 as alpaca_eval's cache keeps it."""
    if given is None or (isinstance(given, str) and not given.strip()):
        return None
    try:
        number = float(given)
    except (TypeError, ValueError):
        number = None
    if number is None or isinstance(given, bool):
        raise BadRecordError(f"preference must be a number or null, this is {given!r}")
    if math.isnan(number) or number == -1:
        return None
    if number and not 1 <= number <= 2:
        raise BadRecordError(f"preference must be from 1 to 2, this is {given!r}")
    return number - 1 if number else 0.5  # 0 is how old files write a tie


def _make_bench(folder: pathlib.Path, read: Sequence[Annotation]) -> int:
    """Make a benchmark of the instructions."""
    known: dict[str, str] = {}
    for one in read:
        known.setdefault(one.instruction, one.dataset)
    with ImportFolder(folder) as made:
        for number, (instruction, dataset) in enumerate(known.items(), 1):
            made.add(number, Item(category=dataset, turns=(instruction,)))
        made.settings({"title": "AlpacaEval: annotations"})
    return len(known)


def _write_judgments(
    bench: Bench,
    annotator: str,
    read: Sequence[Annotation],
    questions: Mapping[str, Question],
    judge_model: str | None,
    report: ImportReport,
) -> None:
    """Write the judgments of one annotator."""
    try:
        judge_set: JudgeSet | None = load_judge_set(annotator, bench.folder)
    except UsageError:
        judge_set = None
    judge = judge_model or (judge_set.judge if judge_set is not None else None) or annotator
    order = judge_set or JudgeSet(name=annotator, path=pathlib.Path(annotator), templates={}, order="random")
    soft = any(one.preference not in {None, 0.0, 0.5, 1.0} for one in read)
    materials = None
    if judge_set is not None:
        models = list(dict.fromkeys(model for one in read for model in (one.model, one.baseline)))
        materials, _, _ = gather(bench, judge_set, models, bench.questions, JudgeOptions(skip_missing=True))
    path = bench.judgment_file(judge, annotator, "pairwise-baseline", one_order=True)
    there = {row.key[:3] for row in judged_rows(path)} if is_there(path) else set()
    made: dict[Any, Judgment] = {}
    for one in read:
        question = questions[one.instruction]
        if one.preference is None:
            report.failed += 1
            continue
        key = (question.question_id, 1, tuple(sorted((one.model, one.baseline))))
        made[key] = _judgment(one, question, judge, order, materials, soft=soft)  # of several records the last counts
    new = {key: judgment for key, judgment in made.items() if key not in there}
    report.known += len(made) - len(new)
    with Journal(path, bench.judgment_state) as journal:
        for judgment in new.values():
            journal.append(pair_to_row(judgment, tstamp=time.time()))
            report.judgments[judgment.match.pair[0]] += 1
    report.added = (*report.added, path)


def _judgment(
    one: Annotation, question: Question, judge: str, order: JudgeSet, materials: Materials | None, *, soft: bool
) -> Judgment:
    """Return the judgment, as judging it here would have made it."""
    assert one.preference is not None
    game = order.games(question, 1)[0]
    match = Match(question, 1, (one.model, one.baseline) if game == 1 else (one.baseline, one.model), game)
    to_second = 1 - one.preference if game == 1 else one.preference
    side: Side = "tie" if to_second == 0.5 else "B" if to_second > 0.5 else "A"
    template, method = UNSTATED, LOGPROBS if soft else "text"
    request = Request((Message("user", ""),))
    shown = sorted([[one.baseline, [one.outputs[0]]], [one.model, [one.outputs[1]]]])
    made = MadeFrom(question.content, content_hash(shown), None, UNSTATED, UNSTATED)
    if materials is not None:
        template, method = materials.template(match).name, materials.form(match).score_method
        request, made = request_about(materials, match), made_from(materials, match)
    return Judgment(
        match=match,
        judge=judge,
        judge_set=order.name,
        judge_set_version=order.version,
        template=template,
        request=request,
        attempts=(Reply(one.completion, given="annotations"),),
        parsed=Parsed(Winner(side, to_second), "imported"),
        made_from=made,
        score_method=method,
    )


def write_annotations(
    bench: Bench, path: pathlib.Path, *, judge: str | None = None, judge_set: str | None = None
) -> dict[str, int]:
    """Write judgments of pairs as annotations; return how many of each model, those without a verdict as null.

    Raises:
        UsageError: there are no judgments of pairs, several judges or judge sets of which none is named, or the file is
            there.
        StorageError: the file can't be written.
    """
    rows = rows_to_write(bench, path, "judgments of pairs", ("pair1", "pair"), judge, judge_set, sample=0)
    latest = {row.key: row for row in rows}
    counts: Counter[str] = Counter()
    answers = {model: bench.answers(model) for row in latest.values() for model in row.models}
    questions = {question.question_id: question for question in bench.questions}
    records = []
    for row in latest.values():
        model, baseline = row.models
        found = [answers[name].get(row.question_id) for name in (baseline, model)]
        if row.turn != 1 or row.question_id not in questions or None in found:
            continue
        texts = [answer.choices[0].turns[0] for answer in found if answer is not None]
        records.append(_record(row, questions[row.question_id], texts))
        counts[model] += 1
    with storing(path):
        path.write_text(json.dumps(records, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return counts


def _record(row: JudgedRow, question: Question, texts: Sequence[str]) -> dict[str, Any]:
    share = outcome(row.games, row.source.method)
    return {
        "instruction": question.turns[0],
        "output_1": texts[0],
        "generator_1": row.models[1],
        "dataset": question.category,
        "output_2": texts[1],
        "generator_2": row.models[0],
        "annotator": row.source.judge_set,
        "preference": None if share is None else 1 + share,
        "raw_completion": next((words.judgment for words in row.words if words.judgment), None),
        "time_per_example": sum(float(words.details.get("seconds") or 0.0) for words in row.words) or None,
    }
