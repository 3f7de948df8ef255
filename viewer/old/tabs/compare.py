"""The tab Compare: two models side by side, turn by turn, and what the judge said in each of the two games.

Verdicts are named by model: the judge knew the answers only as A and B, in the order in which it saw them.
"""

from harness.old.errors import DataError, MissingError, TurnbenchError
from harness.old.judgments.case import changed
from harness.old.records import Answer, Choice, Observation, Question
from viewer.old import markup
from viewer.old.context import Context, Tab
from viewer.old.later import NotYet
from viewer.old.people import People, people
from viewer.old.questions import no_question, question_bar, question_title, said_by_user, settled, turn_section
from viewer.old.rows import row_link, rows_html
from viewer.old.state import State
from viewer.old.stepping import stepping_bar
from viewer.old.store import Found, Judged
from viewer.old.strips import questions_strip, replaced_notice, verdict_chip, verdicts_between
from viewer.old.tabs.answers import asked_in, brief_html, history_html, reply_html, system_html, words_html
from viewer.old.text import escaped

_MOST_VOTES = 40
_MARKED = "differences"
"""The filter that has the words marked which the other answer has not."""


def tab(context: Context) -> Tab:
    """Return the tab."""

    def settle(state: State) -> State:
        state = settled(context, state)
        others = (
            [name for name in _best_first(context, state) if name not in state.models] if len(state.models) < 2 else ()
        )
        return state.to(models=(*state.models, *others)[:2])

    return Tab("compare", "Compare", lambda state: _show(context, state), settle)


def _best_first(context: Context, state: State) -> list[str]:
    """Return the models that have answered: in the order of the leaderboard, as far as it is known by now."""
    store = context.store
    answered = store.bench(state.bench).answered_models()
    ranked: list[str] = []
    for mode in dict.fromkeys((state.mode, "single", "pairwise-all")):
        try:
            ranked = [row["model"] for row in store.result(state.to(mode=mode), intervals=False).rows()]
            break
        except (TurnbenchError, NotYet):
            continue
    return list(dict.fromkeys(name for name in (*ranked, *answered) if name in answered))


def _show(context: Context, state: State) -> str:
    store = context.store
    bench = store.bench(state.bench)
    choices = markup.choices(context, state, "bench")
    try:
        question = store.question(state)
    except MissingError as error:
        return choices + no_question(context, state, error)
    parts = [choices, stepping_bar(context, state), question_bar(context, state, question)]
    found, answers, faults = Found(), {}, []
    said = People((), {}, "")
    complete = False
    try:
        said = people(context, state, bench)
        found = store.judgments(bench, question.question_id, "pair")
        complete = True
    except NotYet as wait:
        parts.append(markup.waiting(wait))
    judged = {name for c in found.compared for name in c.row.models}
    known = sorted({*bench.answered_models(), *judged})
    models = list(dict.fromkeys((*state.models, *known)))[:2]
    if len(models) < 2:
        return "".join(parts) + _too_few(bench.name, models)
    parts.append(_pair_choice(state, sorted({*known, *models}), models))
    for model in models:
        try:
            answers[model] = store.answer(bench, model, question.question_id)
        except NotYet as wait:
            parts.append(markup.waiting(wait))
        except DataError as error:
            faults.append(str(error))
    of_pair = [c for c in found.compared if set(c.row.models) == set(models)]
    parts.append(question_title(question))
    parts.append(brief_html(state, question))
    parts.append(system_html(state, [answer.system for answer in answers.values() if answer]))
    parts.append(verdicts_between(state, models, of_pair, said.between(question.question_id, models)))
    parts.append(replaced_notice(bench, of_pair, answers))
    parts.append(questions_strip(context, state, question, models, "pair"))
    if said.note:
        parts.append(f'<p class="tb-quiet">{escaped(said.note)}</p>')
    parts.append(markup.faults([*faults, *found.faults]))
    last = _turns(question, answers, of_pair)
    for turn in range(1, last + 1):
        # A conversation with a played user is judged as a whole, and that stands below its last turn.
        about = (1 if turn == last else 0) if question.user is not None else turn
        votes = [vote for vote in said.between(question.question_id, models) if vote.turn == about]
        own = [one for one in of_pair if one.row.turn == about]
        parts.append(_turn(state, question, turn, models, answers, own, votes))
    parts.append(rows_html(context, state, bench, question.question_id, models))
    if complete and not of_pair:
        line = markup.command(f"gen_judgment --bench-name {bench.name} --mode pairwise-all --judge-model NAME")
        parts.append(markup.notice("No judge has compared these two here yet. Compare them with:", then=line))
    return "".join(parts)


def _too_few(bench: str, models: list[str]) -> str:
    there = f"only {models[0]} has answered" if models else "no model has answered yet"
    line = markup.command(f"gen_answer --bench-name {bench} --model NAME NAME")
    return markup.notice(f"A comparison needs two models, but in {bench} {there}. Let them answer with:", then=line)


def _pair_choice(state: State, known: list[str], models: list[str]) -> str:
    """Return the two fields that choose the models, and the link that puts them the other way round."""
    first = markup.select("model", "Left", known, models[0])
    second = markup.select("model", "Right", known, models[1]).replace('id="tb-model"', 'id="tb-model-2"', 1)
    chosen = markup.form(state.to(whole=False), first + second, names={"model"}, label="Models to compare")
    turned = markup.link(
        state.to(models=tuple(models[::-1])), "\u21c4", label="Change sides (s)", key="s", kind="button"
    )
    marked = bool(state.looked_for(_MARKED))
    text = "Hide differences" if marked else "Mark differences"
    differing = markup.link(state.where(**{_MARKED: "" if marked else "yes"}), text, key="d", kind="button")
    return f'<div class="tb-bar">{chosen}{turned}{differing}</div>'


def _turns(question: Question, answers: dict[str, Answer | None], compared: list[Judged]) -> int:
    shown = [answer.choices[0] for answer in answers.values() if answer]
    replied = [max(len(choice.replies), len(choice.user)) for choice in shown]
    return min(60, max(len(question.turns), *replied, *(c.row.turn for c in compared), 1))


def _turn(
    state: State,
    question: Question,
    turn: int,
    models: list[str],
    answers: dict[str, Answer | None],
    compared: list[Judged],
    votes: list[Observation],
) -> str:
    """Return one turn: what the user says, both answers at the same height, and the verdicts."""
    parts = []
    if turn <= len(question.turns):
        parts.append(said_by_user(state, question.turns[turn - 1], turn))
    sides = []
    for side, model in enumerate(models):
        answer = answers.get(model)
        choice = answer.choices[0] if answer else None
        other = answers.get(models[1 - side]) if state.looked_for(_MARKED) else None
        replies = other.choices[0].replies if other else ()
        beside = replies[turn - 1].text if turn <= len(replies) else None
        sides.append(_side(state, question, turn, side, model, choice, beside))
    parts.append(f'<div class="tb-sides tb-two">{"".join(sides)}</div>')
    parts += [_verdicts(state, one, models, f"{turn}-{at}") for at, one in enumerate(compared)]
    if votes:
        chips = [
            verdict_chip(v.value, (v.model, str(v.opponent)), before=f"{v.source.judge}: ", sides=models)
            for v in votes[:_MOST_VOTES]
        ]
        cut = f'<span class="tb-quiet">and {len(votes) - _MOST_VOTES} more</span>' if votes[_MOST_VOTES:] else ""
        parts.append(f'<div class="tb-said tb-votes"><h3>Votes</h3>{" ".join(chips)} {cut}</div>')
    return turn_section(state, question, turn, "".join(parts))


def _side(
    state: State, question: Question, turn: int, side: int, model: str, choice: Choice | None, beside: str | None
) -> str:
    """Return one model's part of a turn, with what came before it where that is not the same for both."""
    name, parts = f"side-{side}-{turn}", []
    played = choice is not None and bool(choice.user)
    if choice is not None:
        parts.append(history_html(state, choice, turn, name))
        said = asked_in(question, choice, turn) if played and turn > 1 else None
        if said is not None:
            parts.append(said_by_user(state, said, turn).replace('id="tb-long-', f'id="tb-long-{side}-', 1))
    if choice is not None and turn <= len(choice.replies):
        parts.append(reply_html(state, model, choice.replies[turn - 1], name, kind=f"side-{side + 1}", beside=beside))
    elif not played:
        parts.append(markup.notice(f"There is no answer by {model} to turn {turn}."))
    return parts[-1] if len(parts) == 1 else f"<div>{''.join(parts)}</div>"


def _verdicts(state: State, compared: Judged, models: list[str], name: str) -> str:
    """Return one judge's verdicts of a turn, and its words game by game."""
    row = compared.row
    shown = row.models
    chips, games = [], []
    for value, words in zip(row.games, compared.words, strict=True):
        number = 2 if words.prefix == "g2_" else 1
        first, second = shown if number == 1 else shown[::-1]
        chips.append(verdict_chip(value, shown, before=f"Game {number}: ", sides=models))
        seen = f"The judge saw <bdi>{escaped(first)}</bdi> as A and <bdi>{escaped(second)}</bdi> as B."
        order = f'<p class="tb-quiet">{seen}</p>'
        said = words_html(state, compared, words, f"game-{number}-{name}")
        head = f"<h4>Game {number} {verdict_chip(value, shown, sides=models)}</h4>"
        games.append(f'<div class="tb-said">{head}{order}{said}</div>')
    swapped = changed(row.games)
    mark = markup.chip("swapping changed the verdict", "warn") if swapped else ""
    head = f"<summary><bdi>{escaped(compared.judge)}</bdi> {' '.join(chips)} {mark}</summary>"
    kind = "tb-judged tb-changed" if swapped else "tb-judged"
    link = f"<p>{row_link(state, compared.file.path, row.line)}</p>"
    body = f'<div class="tb-sides tb-two">{"".join(games)}</div>{link}'
    return f'<details class="{kind}" id="tb-verdict-{escaped(name)}" open>{head}{body}</details>'
