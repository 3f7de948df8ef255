"""What a judge set is, once read: templates, criteria, and the rule that picks them for a question and turn."""

import pathlib
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypeAlias

from harness.old.errors import UsageError
from harness.old.judging.forms import LABELS, SHARE, Kind, VerdictForm
from harness.old.judging.template import Template
from harness.old.records import Mode, Question, Sampling, Side
from harness.old.written import FILLED, Wanted, nearest

Order: TypeAlias = Literal["both", "random", "as_given"]
Board: TypeAlias = Literal["win_rate", "length_controlled_winrate"]
"""The column by which a board ranks models."""
TurnsWord: TypeAlias = Literal["first", "later", "every", "last"]
Turns: TypeAlias = TurnsWord | Literal["second"]
"""The turns that a template applies to; only the second one occurs in FastChat's files only."""
Filter: TypeAlias = Mapping[str, tuple[Any, ...]]
"""By field of a question (`category` among them): the values of which it must have one."""

ANY = "*"
"""In a list of categories: every category."""
DEFAULT = "default"
"""In the table of categories: those that have no entry of their own."""
OWN_TEXTS = ("rubric", "context")
"""Placeholders that may be fields of the question."""
_Numbers: TypeAlias = tuple[int | float, int | float]
"""A scale as it is written: whole numbers stay whole, for rows repeat them."""
_NAME = Wanted(
    "a text that is not empty, without # and @, which separate parts of file names",
    lambda name: bool(name.strip()) and not {"#", "@"} & set(name),
)
SCALE = Wanted(
    "[least, greatest], without -1, which means no verdict in judgment files",
    lambda scale: scale[0] < scale[1] and not scale[0] <= -1 <= scale[1],
)
STEP = Wanted("a number above 0 (instructions are 'steps')", lambda step: step > 0)
_NUMBERED = re.compile(r"(.+?)_(\d+)")


def fits(turns: Turns, turn: int, of: int) -> bool:
    """Return whether something with these turns is for that turn, of a question with `of` turns."""
    return {"first": turn == 1, "second": turn == 2, "later": turn >= 2, "every": True, "last": turn == of}[turns]


def passes(wanted: Filter, question: Question) -> bool:
    """Return whether a question is among those that a filter lets through."""
    return all(
        (question.category if name == "category" else question.extra.get(name)) in values
        for name, values in wanted.items()
    )


@dataclass(frozen=True, slots=True)
class JudgeTemplate:
    """One prompt of a judge set."""

    name: str
    form: VerdictForm
    turns: Turns
    user: Template
    system: Template | None = None
    turn: Template | None = None
    """The sub-template of which `{conversation}` is made, once for each turn so far."""
    criterion: str | None = None
    """The criterion that it is for; None: for any, and for matches without one."""
    questions: Filter = field(default_factory=dict)
    """The questions that it is for; empty: all."""
    top_logprobs: int = 20
    """How many likely tokens to ask for, where the verdict is read from them."""
    names: frozenset[str] = field(init=False, compare=False)
    """All placeholders that occur."""
    fields: frozenset[str] = field(init=False, compare=False)
    """All placeholders that occur, without the number of a turn."""

    def __post_init__(self) -> None:
        parts = (self.user, self.system, self.turn)
        names: frozenset[str] = frozenset().union(*(part.names for part in parts if part is not None))
        plain = frozenset(found[1] if (found := _NUMBERED.fullmatch(name)) else name for name in names)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "fields", plain)

    @property
    def kind(self) -> Kind:
        """The kind of verdict."""
        return self.form.kind

    @property
    def verdict(self) -> str:
        """The format of the verdict, such as `[[rating]]`."""
        return self.form.format

    @property
    def reference(self) -> bool:
        """Whether the judge is shown a reference answer."""
        return "reference" in self.fields or "ref_answer" in self.fields


@dataclass(frozen=True, slots=True)
class Wording:
    """A criterion's text in a prompt."""

    definition: str = ""
    """What the criterion asks; `{criterion}` in a template."""
    steps: str = ""
    """How to go about it; `{steps}` in a template."""
    rubric: str = ""
    """What earns which grade; `{rubric}` in a template, before a question's own."""

    def __post_init__(self) -> None:
        for name in ("definition", "steps", "rubric"):
            object.__setattr__(self, name, getattr(self, name).strip("\n"))


@dataclass(frozen=True, slots=True)
class Criterion(Wording):
    """A criterion, a table `[criteria.NAME]`; each gives a separate judgment."""

    scale: Annotated[_Numbers, SCALE] | None = None
    """None: the judge set's."""
    step: Annotated[float, STEP] | None = None
    """Of its grades; None: the judge set's, or with a scale of its own any number."""
    categories: frozenset[Annotated[str, FILLED]] = frozenset()
    """Categories that it applies to in addition to the set's table."""
    by_category: Mapping[str, Wording] = field(default_factory=dict)
    """Other words in some categories; an empty text there means the usual one."""
    turns: TurnsWord = "every"
    default: bool = True
    """Whether it is used without being named."""
    reference: bool = True
    """Whether the judge may be shown a reference answer for it."""

    def said(self, category: str) -> Wording:
        """Return the words that are used for a question of this category."""
        own = self.by_category.get(category)
        if own is None:
            return self
        return Wording(own.definition or self.definition, own.steps or self.steps, own.rubric or self.rubric)


@dataclass(frozen=True, slots=True)
class Example:
    """A pair that people decided, shown with their verdict before the pair that the judge is asked about."""

    turns: tuple[Annotated[str, FILLED], ...]
    """The user's turns, up to the judged one."""
    answer_a: tuple[str, ...]
    """The turns of the answer shown first; as many as the user's."""
    answer_b: tuple[str, ...]
    verdict: Side
    category: str = ""
    reference: tuple[str, ...] = ()
    """The reference's turns; needed where the template that fits shows one."""


@dataclass(frozen=True, slots=True)
class References:
    """Categories, by whether they are judged with a reference."""

    required: frozenset[Annotated[str, FILLED]] = frozenset()
    """Judged with one; a question without one is an error."""
    if_any: frozenset[Annotated[str, FILLED]] = frozenset()
    """Judged with one if the benchmark has any for them."""
    never: frozenset[Annotated[str, FILLED]] = frozenset()
    """Judged without a reference or note, in spite of the other two."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The keys of `judge_set.toml`; `judge_prompts/README.md` is its manual."""

    name: Annotated[str, _NAME] | None = None
    version: str = ""
    title: str = ""
    language: str = "en"
    extends: str = ""
    fence: bool = True
    attempts: Annotated[int, Wanted("a whole number from 1 to 20", lambda number: 1 <= number <= 20)] = 1
    """Calls to make until the judge gives a verdict."""
    scale: Annotated[_Numbers, SCALE] = (1, 10)
    step: Annotated[float, STEP] | None = None
    sampling: Sampling = field(default_factory=Sampling)
    references: References = field(default_factory=References)
    criteria: Mapping[str, Criterion] = field(default_factory=dict)
    categories: Mapping[str, tuple[Annotated[str, FILLED], ...]] = field(default_factory=dict)
    """The criteria of each category, and of all others under `default`; empty: every criterion in every category."""
    questions: Mapping[str, Any] = field(default_factory=dict)
    """The questions that it is for; empty: all."""
    turns: TurnsWord = "every"
    """The turns that it is for."""
    order: Order = "both"
    """In which order two answers are shown: one game in each, or one game only."""
    order_seed: Annotated[int, Wanted("a whole number from 0", lambda number: 0 <= number < 2**31)] = 0
    mode: Mode | None = None
    """The mode unless a flag names another; None: single answers."""
    baseline: Annotated[str, FILLED] | None = None
    """The model that others are compared with where no flag names one."""
    board: Board | None = None
    """The column by which a board of the set ranks models; None: the raw win rate."""
    judge: Annotated[str, FILLED] | None = None
    """The judge that published numbers of the set are by."""
    compatible: bool = False
    aggregate: Literal["mean", "min", "last"] | None = None
    """How the grades of a conversation's turns are combined, unless `--aggregate` says otherwise."""
    rubric: str = ""
    """The `{rubric}` of questions without one."""
    labels: Annotated[Mapping[str, Annotated[float, SHARE]], LABELS] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    """What is shown before each pair; grades have no examples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSet(Settings):
    """A judge set, read and checked: its settings with those of the sets that it extends, and its templates."""

    name: str
    path: pathlib.Path
    templates: Mapping[str, JudgeTemplate]
    chosen: tuple[str, ...] = ()
    """The requested criteria; empty: the set's default ones."""
    bases: tuple[str, ...] = ()
    """The sets that it was made from, the nearest first."""
    contents: Mapping[str, str] = field(default_factory=dict)
    """For each template, the hash of everything in the set that shapes its prompt and its verdict."""

    def choose(
        self, kind: Kind, question: Question, turn: int, *, reference: bool, criterion: str | None = None
    ) -> JudgeTemplate | None:
        """Return the template for a match; None if there is none.

        `kind` is `compare`, or any other for matches of one answer. Of several, one that names the criterion comes
        first, then one that is for certain questions, then one that shows a rubric or context which the question has;
        then the order of their names.
        """
        fitting = [
            template
            for template in self.templates.values()
            if (template.kind == "compare") == (kind == "compare")
            and template.reference == reference
            and template.criterion in (None, criterion)
            and fits(template.turns, turn, len(question.turns))
            and passes(template.questions, question)
        ]

        def rank(template: JudgeTemplate) -> tuple[bool, ...]:
            own = [self.own_text(name, question, criterion) for name in OWN_TEXTS if name in template.fields]
            return None not in own, template.criterion is not None, bool(template.questions), bool(own)

        return max(fitting, key=rank, default=None)

    def own_text(self, name: str, question: Question, criterion: str | None = None) -> str | None:
        """Return the rubric or context for a question: the criterion's, the question's, else the set's, if any."""
        if name == "rubric" and criterion is not None:
            rubric = self.criteria[criterion].said(question.category).rubric
            if rubric:
                return rubric
        value = question.extra.get(name)
        if isinstance(value, str) and value.strip():
            return value
        return (self.rubric or None) if name == "rubric" else None

    def is_for(self, question: Question, turn: int) -> bool:
        """Return whether the set judges this turn of this question at all."""
        return passes(self.questions, question) and fits(self.turns, turn, len(question.turns))

    def is_for_some_turn(self, question: Question) -> bool:
        """Return whether the set judges any turn of this question."""
        return any(self.is_for(question, turn) for turn in range(1, len(question.turns) + 1))

    def criteria_of(self, question: Question, turn: int) -> tuple[str | None, ...]:
        """Return the criteria by which a turn is judged, one judgment each; `(None,)` if the set knows none."""
        if not self.is_for(question, turn):
            return ()
        of = len(question.turns)
        if self.chosen:
            return tuple(name for name in self.chosen if fits(self.criteria[name].turns, turn, of))
        usual = {name: criterion for name, criterion in self.criteria.items() if criterion.default}
        if not usual:
            return (None,)
        listed = self.categories.get(question.category, self.categories.get(DEFAULT, ()))
        return tuple(
            name
            for name, criterion in usual.items()
            if fits(criterion.turns, turn, of)
            and (
                name in listed
                or question.category in criterion.categories
                or ANY in criterion.categories
                or not (self.categories or criterion.categories)
            )
        )

    def games(self, question: Question, turn: int, sample: int = 0) -> tuple[Literal[1, 2], ...]:
        """Return the games of a pair: both, or the one that the set's order gives.

        With `random`, the second model is shown first unless Python's `Random`, seeded with a text made of the turn and
        the seed, picks otherwise: the choice that AlpacaEval makes, whose reference is our second model. Each sample
        has the next seed.
        """
        if self.order == "both":
            return (1, 2)
        if self.order == "as_given":
            return (1,)
        text = f"is_switched_outputs{question.turns[turn - 1]}{self.order_seed + sample}"
        return (1,) if random.Random(text).choices([False, True], k=1)[0] else (2,)

    def by(self, names: Sequence[str]) -> "JudgeSet":
        """Return the set judging by these criteria only; by its default ones if none is named.

        Raises:
            UsageError: it has no such criterion.
        """
        known = list(self.criteria)
        for name in names:
            if name not in known:
                hint = nearest(name, known) if known else "it has none"
                raise UsageError(f"the judge set {self.name} has no criterion {name!r}; {hint}")
        return replace(self, chosen=tuple(dict.fromkeys(names)))

    def for_categories(self, table: Mapping[str, Sequence[str]]) -> "JudgeSet":
        """Return the set judging each of these categories by these of its criteria, and no other category.

        Raises:
            UsageError: it has no such criterion.
        """
        self.by([name for names in table.values() for name in names])
        named = {name for names in table.values() for name in names}
        criteria = {
            name: replace(one, categories=frozenset(), default=name in named) for name, one in self.criteria.items()
        }
        return replace(self, criteria=criteria, categories={name: tuple(own) for name, own in table.items()})

    def without_references(self) -> "JudgeSet":
        """Return the set judging without references and notes."""
        return replace(self, references=References(never=frozenset({ANY})))

    def with_sampling(self, said: Sampling) -> "JudgeSet":
        """Return the set with its sampling replaced by the user's."""
        return replace(self, sampling=said.before(self.sampling))

    def shows_help(self, category: str) -> bool:
        """Return whether references and notes are shown."""
        return category not in self.references.never and ANY not in self.references.never

    def shows_reference(self, category: str, *, present: bool) -> bool:
        """Return whether questions of a category are judged with a reference; `present`: the benchmark has some."""
        if not self.shows_help(category):
            return False
        if category in self.references.required or ANY in self.references.required:
            return True
        return present and (category in self.references.if_any or ANY in self.references.if_any)

    def form(self, template: JudgeTemplate, criterion: str | None = None) -> VerdictForm:
        """Return the form of the verdict, on the criterion's scale."""
        made = self.criteria[criterion] if criterion is not None else None
        if made is None or (made.scale is None and made.step is None):
            return template.form
        return replace(template.form, scale=made.scale or template.form.scale, step=made.step)
