"""The tab Answers: one question as a conversation, the reference beside it, and what every judge made of each turn."""

from collections.abc import Iterable

from harness.old.bench import Bench
from harness.old.errors import DataError, MissingError
from harness.old.judgments.case import changed
from harness.old.judgments.row import Words
from harness.old.names import history_of, plain_model
from harness.old.records import Answer, Choice, Measurement, Observation, Question, Reply
from viewer.old import markup
from viewer.old.checks import checked_turns, checks_html
from viewer.old.context import Context, Tab
from viewer.old.later import NotYet
from viewer.old.markup import Html
from viewer.old.people import People, people
from viewer.old.questions import (
    no_question,
    question_bar,
    question_title,
    said_by_user,
    scrolling,
    settled,
    show_all,
    turn_section,
)
from viewer.old.rows import row_link, rows_html
from viewer.old.state import State
from viewer.old.stepping import stepping_bar
from viewer.old.store import Found, Judged
from viewer.old.strips import grade_chip, questions_strip, replaced_notice, verdict_chip, verdicts_of
from viewer.old.text import escaped, markdown_html, marked_html, plain_html, unlike

_MOST_MARKS = 8
_MOST_PAIRS = 200


def tab(context: Context) -> Tab:
    """Return the tab."""

    def settle(state: State) -> State:
        state = settled(context, state)
        if state.models:
            return state
        answered = context.store.bench(state.bench).answered_models()
        return state.to(models=answered[:1])

    return Tab("answers", "Answers", lambda state: _show(context, state), settle)


def _show(context: Context, state: State) -> str:
    store = context.store
    bench = store.bench(state.bench)
    choices = markup.choices(context, state, "bench")
    try:
        question = store.question(state)
    except MissingError as error:
        return choices + no_question(context, state, error)
    parts = [stepping_bar(context, state), question_bar(context, state, question)]
    found, complete = Found(), False
    said = People((), {}, "")
    faults: list[str] = []
    try:
        said = people(context, state, bench)
        found = store.judgments(bench, question.question_id)
        complete = True
    except NotYet as wait:
        parts.append(markup.waiting(wait))
    models = _models(bench, found)
    model = state.models[0] if state.models else (models[0] if models else "")
    if model:
        parts.insert(2, _model_choice(state, sorted({*models, model}), model))
    answer, references, unanswered = None, {}, False
    checks: dict[tuple[int, int], Measurement] = {}
    try:
        answer = store.answer(bench, model, question.question_id) if model else None
        unanswered = answer is None
        if unanswered and model in bench.answered_models():
            faults += store.faults(bench.answer_file(model))
        references = store.references(bench, question.question_id)
        checks = checked_turns(store, bench, model, question.question_id)
    except NotYet as wait:
        parts.append(markup.waiting(wait))
    except DataError as error:
        faults.append(str(error))
    graded = _first_judge([one for one in found.graded if one.row.models[0] == model], state)
    compared = [c for c in found.compared if model in c.row.models]
    parts.append(question_title(question))
    parts.append(brief_html(state, question))
    parts.append(system_html(state, [bench.settings.system_prompt if answer is None else answer.system]))
    parts.append(verdicts_of(state, model, graded, compared))
    parts.append(replaced_notice(bench, graded, {model: answer}))
    parts.append(questions_strip(context, state, question, [model] if model else [], "single"))
    faults += found.faults
    parts.append(markup.faults(faults))
    if unanswered:
        parts.append(_no_answer(bench, model, question))
    choice = _choice(state, answer)
    if answer is not None and len(answer.choices) > 1:
        parts.append(_choice_links(state, answer, choice))
    last = _turns(question, choice, found, model)
    for turn in range(1, last + 1):
        # A conversation with a played user is judged as a whole, and that stands below its last turn.
        judged = (1 if turn == last else 0) if question.user is not None else turn
        own = [one for one in graded if one.row.turn == judged and _about(one, question, choice)]
        checked = "" if choice is None else _checked(state, bench, choice, turn, checks)
        parts.append(_turn(state, question, turn, model, choice, references, own, checked))
        pairs = [c for c in compared if c.row.turn == judged]
        votes = [v for v in said.by_question.get(question.question_id, ()) if v.turn == judged]
        votes = [v for v in votes if model in (v.model, v.opponent)]
        if pairs or votes:
            parts.append(_pairs(state, model, pairs, votes, f"pairs-{turn}"))
    if model:
        parts.append(rows_html(context, state, bench, question.question_id, [model]))
    if answer is not None and complete and not graded and not compared:
        parts.append(_no_judgment(bench))
    return choices + "".join(parts)


def _checked(state: State, bench: Bench, choice: Choice, turn: int, checks: dict[tuple[int, int], Measurement]) -> str:
    row = checks.get((turn, choice.index))
    return "" if row is None or turn > len(choice.replies) else checks_html(state, bench, choice, turn, row)


def _models(bench: Bench, found: Found) -> list[str]:
    """Return the models that have answered, and those that were judged here."""
    judged = {m for one in (*found.graded, *found.compared) for m in one.row.models}
    return sorted({*bench.answered_models(), *judged})


def _model_choice(state: State, models: list[str], model: str) -> str:
    at = models.index(model)
    inside = markup.select("model", "Model", models, model)
    chosen = markup.form(state.to(whole=False), inside, names={"model", "f.choice"}, label="Model")
    steps = ""
    if len(models) > 1:
        before, after = models[at - 1], models[(at + 1) % len(models)]
        steps = markup.link(state.to(models=(before,)), "\u2191", key="p", label="Previous model (p)", kind="button")
        steps += markup.link(state.to(models=(after,)), "\u2193", key="n", label="Next model (n)", kind="button")
        other = next(name for name in models if name != model)
        pair = markup.link(state.to(tab="compare", models=(model, other)), "Compare with another")
        counterpart = next((n for n in models if n != model and plain_model(n) == plain_model(model)), None)
        if counterpart is not None:
            text = "Compare with own history" if history_of(model) else "Compare with supplied history"
            pair += " " + markup.link(state.to(tab="compare", models=(model, counterpart)), text)
        steps += f'<span class="tb-place">{pair}</span>'
    return f'<div class="tb-bar">{chosen}{steps}</div>'


def _choice(state: State, answer: Answer | None) -> Choice | None:
    if answer is None:
        return None
    wanted = state.looked_for("choice")
    return next((c for c in answer.choices if str(c.index) == wanted), answer.choices[0])


def _choice_links(state: State, answer: Answer, choice: Choice | None) -> str:
    return markup.switch(
        "Choice",
        (markup.link(state.where(choice=c.index), str(c.index + 1), current=c is choice) for c in answer.choices),
    )


def _first_judge(graded: list[Judged], state: State) -> list[Judged]:
    """Return the grades with those of the view's judge first."""
    return sorted(graded, key=lambda one: (one.file.judge, one.file.judge_set) != (state.judge, state.judge_set))


def _turns(question: Question, choice: Choice | None, found: Found, model: str) -> int:
    judged = [g.row.turn for g in found.graded if g.row.models[0] == model]
    return min(60, max(len(question.turns), *(map(len, (choice.replies, choice.user)) if choice else ()), *judged, 1))


def _turn(
    state: State,
    question: Question,
    turn: int,
    model: str,
    choice: Choice | None,
    references: dict[str, Answer],
    graded: list[Judged],
    checked: str,
) -> str:
    """Return one turn: what the user says, the answer with the reference beside it, its checks and judgments."""
    parts = []
    asked = asked_in(question, choice, turn)
    if asked is not None:
        marks = " ".join(grade_chip(one) for one in graded[:_MOST_MARKS])
        parts.append(said_by_user(state, asked, turn, marks=marks))
    sides = []
    if choice is not None and turn <= len(choice.replies):
        sides.append(reply_html(state, model, choice.replies[turn - 1], f"answer-{turn}"))
        parts.append(history_html(state, choice, turn, f"answer-{turn}"))
    elif choice is not None and not choice.user:
        sides.append(markup.notice(f"{model} gave no answer to turn {turn}"))
    for number, (author, reference) in enumerate(references.items()):
        replies = reference.choices[0].replies
        if turn <= len(replies):
            name = f"reference-{number}-{turn}"
            sides.append(reply_html(state, f"Reference by {author}", replies[turn - 1], name, kind="reference"))
    parts.append(f'<div class="tb-sides">{"".join(sides)}</div>')
    parts.append(checked)
    parts += [graded_html(state, one, f"graded-{turn}-{at}") for at, one in enumerate(graded)]
    return turn_section(state, question, turn, "".join(parts))


def reply_html(
    state: State, title: str, reply: Reply, name: str, *, kind: str = "answer", beside: str | None = None
) -> str:
    """Return a reply with its heading, what is known of it, and its reasoning folded away.

    With a reply `beside` it, it stands as it was written, with the words marked that the other has not.
    """
    facts = [given_chip(reply)]
    if reply.finish_reason in {"length", "refused", "empty"}:
        words = {"length": "cut at the token limit", "refused": "refused", "empty": "empty"}
        facts.append(markup.chip(words[reply.finish_reason], "warn"))
    if reply.usage.completion_tokens is not None:
        facts.append(f'<span class="tb-quiet">{reply.usage.completion_tokens:,} tokens</span>')
    if reply.seconds is not None:
        facts.append(f'<span class="tb-quiet">{reply.seconds:.1f} s</span>')
    whole, more = state.whole, show_all(state)
    if beside is None:
        body = scrolling(markdown_html(reply.text, whole=whole, more=more), name)
    else:
        body = scrolling(marked_html(reply.text, unlike(reply.text, beside), whole=whole, more=more), name)
    note = f'<p class="tb-quiet">{escaped(reply.note)}</p>' if reply.note else ""
    if reply.reasoning:
        thought = plain_html(reply.reasoning, whole=state.whole, more=show_all(state))
        note += markup.details("Reasoning, not shown to judges", thought, name=f"tb-thought-{name}")
    told = " ".join(facts)
    head = f"<h3><bdi>{escaped(title)}</bdi> {told} {markup.copying(reply.text)}</h3>"
    return f'<div class="tb-said tb-{kind}">{head}{body}{note}</div>'


def asked_in(question: Question, choice: Choice | None, turn: int) -> str | None:
    """Return what the user says in a turn; None where there is no such turn."""
    if choice is not None and choice.user:
        return choice.user[turn - 1].text if turn <= len(choice.user) else None
    return question.turns[turn - 1] if turn <= len(question.turns) else None


def brief_html(state: State, question: Question) -> str:
    """Return who is played, where a chat model plays the user; nothing where the turns are fixed."""
    if question.user is None:
        return ""
    user = question.user
    told = [("Who", user.persona), ("Wants", user.goal), ("Satisfied when", user.done)]
    lines = "".join(f"<p><b>{name}:</b> <bdi>{escaped(text)}</bdi></p>" for name, text in told)
    knows = "".join(f"<li><bdi>{escaped(text)}</bdi></li>" for text in user.knows)
    return markup.details("The user is simulated by a chat model", f"{lines}<ul>{knows}</ul>", name="tb-played")


def system_html(state: State, prompts: Iterable[str | None]) -> str:
    """Return the system prompts that answers were made with, each once, folded away; nothing where there is none."""
    return "".join(
        markup.details(
            "System prompt", plain_html(text, whole=state.whole, more=show_all(state)), name=f"tb-system-{at}"
        )
        for at, text in enumerate(dict.fromkeys(prompts))
        if text
    )


def _about(one: Judged, question: Question, choice: Choice | None) -> bool:
    """Return whether a judgment is of the conversation that is shown, where a question has one for each sample."""
    return question.user is None or choice is None or one.row.source.choice == str(choice.index)


def given_chip(reply: Reply) -> str:
    """Return the mark of a reply that the model did not write; nothing for one that it wrote."""
    if reply.given is None:
        return ""
    whose = "the question" if reply.given == "question" else reply.given
    return markup.chip(f"given by {whose}", "warn", tip="The model did not write this turn; it is not judged.")


def history_html(state: State, choice: Choice, turn: int, name: str) -> str:
    """Return the given turns that a reply was written after, where they are not those shown above it."""
    before = choice.history[1 : turn - 1]
    if not before:
        return ""
    more = show_all(state)
    shown = [markdown_html(text, whole=state.whole, more=more) for text in before]
    inside = "".join(f"<h4>Turn {at}</h4>{scrolling(text, f'{name}-{at}')}" for at, text in enumerate(shown, 2))
    return markup.details("Continued from these supplied turns, not the model's own", inside, name=f"tb-history-{name}")


def graded_html(state: State, graded: Judged, name: str) -> str:
    """Return one judge's grade with its words, folded away."""
    mark = grade_chip(graded)
    head = f"<summary><bdi>{escaped(graded.file.label)}</bdi> {mark}</summary>"
    link = f"<p>{row_link(state, graded.file.path, graded.row.line)}</p>"
    inside = words_html(state, graded, graded.words[0], name) + link
    return f'<details class="tb-judged" id="tb-{escaped(name)}" open>{head}{inside}</details>'


def words_html(state: State, judged: Judged, words: Words, name: str) -> str:
    """Return the judge's words, why they were read as they were, and its prompt folded away."""
    if words.judgment:
        body = scrolling(markdown_html(words.judgment, whole=state.whole, more=show_all(state)), f"words-{name}")
    else:
        body = '<p class="tb-quiet">The judge gave no text with this verdict.</p>'
    reason = words.details.get("verdict_reason")
    parts = [body]
    if isinstance(reason, str) and reason:
        parts.append(f'<p class="tb-quiet">How the verdict was read: {escaped(reason)}</p>')
    if words.prompt:
        shown = plain_html(words.prompt, whole=state.whole, more=show_all(state))
        if system := judged.row.system_prompt:
            before = plain_html(system, whole=state.whole, more=show_all(state))
            shown = f"<h4>System</h4>{before}<h4>User</h4>{shown}"
        inside = f"<p>{markup.copying(words.prompt)}</p>" + scrolling(shown, f"prompt-{name}")
        parts.append(markup.details("What the judge was shown", inside, name=f"tb-prompt-{name}"))
    else:
        parts.append('<p class="tb-quiet">The row does not store what the judge was shown.</p>')
    return "".join(parts)


def _pairs(state: State, model: str, compared: list[Judged], votes: list[Observation], name: str) -> str:
    """Return the pairs in which judges and people compared the model, each leading to the comparison."""
    rows: list[dict[str, object]] = []
    for vote in votes[:_MOST_PAIRS]:
        pair = (vote.model, str(vote.opponent))
        other = pair[1] if pair[0] == model else pair[0]
        chip = verdict_chip(vote.value, pair, before=f"{vote.source.judge}: ")
        link = Html(markup.link(state.to(tab="compare", models=(model, other)), other))
        rows.append({"against": link, "verdicts": Html(chip), "swapping": "", "judge": "vote"})
    for one in compared[:_MOST_PAIRS]:
        first, second = one.row.models
        other = second if first == model else first
        there = state.to(tab="compare", models=(model, other), mode="pairwise-all", judge=one.file.judge)
        rows.append(
            {
                "against": Html(markup.link(there.to(judge_set=one.file.judge_set), other)),
                "verdicts": Html(" ".join(verdict_chip(game, one.row.models) for game in one.row.games)),
                "swapping": Html(markup.chip("changed the verdict", "warn") if changed(one.row.games) else ""),
                "judge": one.file.label,
            }
        )
    cut = len(compared) + len(votes) - len(rows)
    more = f'<p class="tb-cut">{cut} more are not shown.</p>' if cut else ""
    inside = markup.table(rows, label="pairs") + more
    return markup.details(f"Compared with others: {len(compared) + len(votes)}", inside, name=f"tb-{name}")


def _no_answer(bench: Bench, model: str, question: Question) -> str:
    if not model:
        line = markup.command(f"gen_answer --bench-name {bench.name} --model NAME")
        return markup.notice(f"There are no answers in {bench.name} yet. Let a model answer with:", then=line)
    return markup.notice(f"There is no answer by {model} to question {question.question_id}.")


def _no_judgment(bench: Bench) -> str:
    line = markup.command(f"gen_judgment --bench-name {bench.name} --judge-model NAME")
    return markup.notice("No judge has judged these answers yet. Judge them with:", then=line)
