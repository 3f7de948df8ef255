"""Other projects' data: downloaded, converted to benchmark folders, and our judgments exported in their formats.

    records.py     a file of records (JSON array, JSON Lines, CSV) as a stream, bad ones with their position; a report
    items.py       the result of one record: a question, its reference, answers, votes
    one file for the formats of one project: prometheus.py, colossalai.py, alpaca_eval.py, battles.py, short_facts.py,
    ifeval.py, dialogues.py
    folder.py      the benchmark folder, written next to its place and moved there when complete
    run.py         all of it together; answers.py: only answers, to existing questions
    back.py        judgments as training records of the Feedback Collection
    originals/     published benchmarks and judge sets on request: pinned files, downloaded and verified

A further format is one more file with a function from a record to an `Item`, and its line in `FORMATS`.
"""

import pkgutil
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Format(NamedTuple):
    """One shape of data that can be imported."""

    title: str
    item: str
    """What a record of the file of questions becomes: module and function, imported when it is called."""
    judging: str = ""
    """The flags of `gen_judgment` that fit such data; `{language}` becomes its language, `{votes}` its vote file."""
    answer: str | None = None
    """What a record of any further file is; None: further files are more records of the first kind."""
    joined: bool = False
    """Whether records of one question become one: its answers and the votes on them."""
    names: bool = False
    """Whether the user must name the models of further files, since their records do not."""

    def load(self, name: str | None) -> Callable[[Mapping[str, Any]], Any]:
        """Return one of its functions, such as `load(form.item)`."""
        made: Callable[[Mapping[str, Any]], Any] = pkgutil.resolve_name(f"{__name__}.{name}")
        return made


FORMATS: Mapping[str, Format] = {
    "feedback_collection": Format(
        "Feedback Collection (graded, with rubrics)", "prometheus:graded", "--judge-set prometheus"
    ),
    "preference_collection": Format(
        "Preference Collection (pairs, with criteria)",
        "prometheus:compared",
        "--mode pairwise-all --judge-set prometheus",
    ),
    "colossalai": Format(
        "ColossalAI: a target file, then answer files",
        "colossalai:item",
        "--judge-set metrics_en",
        answer="colossalai:answer",
        names=True,
    ),
    "alpaca_eval": Format(
        "AlpacaEval: files of model outputs",
        "alpaca_eval:item",
        "--mode pairwise-all --judge-set alpaca_eval",
        answer="alpaca_eval:answer",
    ),
    "battles": Format(
        "Arena battles: a question, two answers, who won",
        "battles:item",
        "--mode pairwise-all --votes {votes} --judge-set mt_bench",
        joined=True,
    ),
    "short_facts": Format(
        "SimpleQA, Chinese SimpleQA, HuSimpleQA and the like", "short_facts:item", "--judge-set short_fact_{language}"
    ),
    "ifeval": Format(
        "IFEval: a file of prompts, then files of responses",
        "ifeval:item",
        "--judge-set mt_bench_checked",
        answer="ifeval:answer",
        names=True,
    ),
    "mt_bench_101": Format(
        "MT-Bench-101 (13 tasks, the least of the turns counts)", "dialogues:mt_bench_101", "--judge-set mt_bench_101"
    ),
    "multi_challenge": Format(
        "MultiChallenge (given dialogues, the last reply passes or fails)",
        "dialogues:multi_challenge",
        "--judge-set multi_challenge",
    ),
    "wildchat": Format(
        "WildChat (given dialogues, the last reply is written)", "dialogues:wildchat", "--judge-set mt_bench"
    ),
    "multi_if": Format("Multi-IF", "ifeval:multi_if", "--judge-set mt_bench_checked"),
}
"""What can be imported, by name."""
