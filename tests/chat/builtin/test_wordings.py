import pytest

from harness.chat.builtin.wordings import find_instructions, instructions_in_force


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("exactly four sentences", ["exactly 4 sentences"], id="exactly"),
        pytest.param("between 90 and 110 words", ["90 to 110 words"], id="range"),
        pytest.param("fewer than 50 words", ["at most 49 words"], id="fewer"),
        pytest.param("at most 190 words, but more than forty words", ["41 to 190 words"], id="two bounds together"),
        pytest.param(
            "no line longer than 60 characters", ["at most 60 characters in each of the lines"], id="each line"
        ),
        pytest.param("No cell may have more than ten words.", ["at most 10 words in each of the cells"], id="no cell"),
        pytest.param("six numbered items", ["exactly 6 bullets"], id="numbered"),
        pytest.param('sign it simply "Nino"', ["ends with Nino"], id="signature"),
        pytest.param('no sentence may begin with "You"', ["none of the sentences begins with You"], id="not begin"),
        pytest.param("Start every sentence with the letter A.", ["each of the sentences begins with A"], id="begin"),
        pytest.param('Don\'t use "sorry", "apologise" or "alas".', ["without sorry, apologise, alas"], id="words"),
        pytest.param("no bullet points", ["without bulleted lines"], id="no list"),
        pytest.param("Give JSON with the keys a_b, c and d.", ["JSON with the keys a_b, c, d"], id="JSON keys"),
        pytest.param("不超过80字，恰好三句话", ["at most 80 words", "exactly 3 sentences"], id="Chinese"),
        pytest.param("每个要点不超过10个字", ["at most 10 words in each of the bullets"], id="Chinese, each"),
        pytest.param("The poem by my aunt has lines about rain.", [], id="nothing asked"),
        pytest.param("give a title of two words", [], id="a part only"),
        pytest.param("Keep one sentence of your first answer.", [], id="of your answer"),
        pytest.param(
            'Proofread: "' + "It must have exactly four sentences. " * 4 + '"', [], id="inside a long quotation"
        ),
    ],
)
def test_wordings_are_understood(text: str, found: list[str]) -> None:
    assert [str(one) for one in find_instructions(text)] == found


def test_earlier_instructions_hold_if_the_turn_says_so() -> None:
    turns = (
        "At most 80 words. Exactly four sentences.",
        "Same rules as before, but five sentences, exactly five sentences.",
    )
    assert [str(one) for one in instructions_in_force(turns)] == ["at most 80 words", "exactly 5 sentences"]


def test_earlier_instructions_do_not_hold_by_themselves() -> None:
    assert instructions_in_force(("At most 80 words.", "And why?")) == ()


@pytest.mark.parametrize(
    ("instruction", "answer", "share"),
    [
        pytest.param("exactly four words", "one two three four", None, id="small counts need a verb"),
        pytest.param("Answer in exactly two sentences.", "One. Two.", 1.0, id="right"),
        pytest.param(
            "Answer in exactly two sentences.", "Dr. Osei paid 3.5 euros. He left.", 1.0, id="abbreviation and decimals"
        ),
        pytest.param("At most 100 words.", "word " * 110, 0.3, id="a tenth too long"),
        pytest.param("At most 100 words.", "word " * 300, 0.0, id="far too long"),
        pytest.param("Answer in exactly two sentences.", " ", 0.0, id="empty"),
        pytest.param("Answer as JSON.", 'Here: {"a": 1}', 1.0, id="JSON in prose"),
        pytest.param("Answer as JSON.", "{'a': 1}", 0.0, id="no JSON"),
    ],
)
def test_obedience_is_a_share(instruction: str, answer: str, share: float | None) -> None:
    found = find_instructions(instruction)
    assert [one.obeyed(answer) for one in found] == pytest.approx([] if share is None else [share])
