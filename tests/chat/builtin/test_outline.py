import json

import pytest

from harness.chat.builtin.conversation import Conversation
from harness.chat.builtin.outline import givens, key_terms, outline
from harness.chat.builtin.tokens import code_blocks, sentences
from harness.chat.builtin.wordings import instructions_in_force

SUBJECT = "We keep forty beehives beside the railway near Ljubljana, and the verge is mown every fortnight."


def reply_to(*asked: str, replies: tuple[str, ...] = (), system: str = "") -> str:
    return outline(Conversation(asked, replies, system))


@pytest.mark.parametrize(
    "instruction",
    [
        "Answer in exactly four sentences.",
        "Write between 90 and 110 words.",
        "At most 30 words, please.",
        "Give exactly 12 words.",
        "List exactly five bullet points, each beginning with a different letter.",
        "Exactly six lines, no line longer than 40 characters.",
        "Write exactly three paragraphs.",
        "Start every sentence with the letter A.",
        'Don\'t use the words "verge" or "railway".',
        "Write it without the letter z, in two sentences.",
        "Without a single exclamation mark, ending with a question.",
        "Write it all in lowercase.",
        "Make it a table with exactly five rows.",
        "Give JSON with the keys place, hives and interval.",
        'Use the words "lamp" and "harbour" in three sentences.',
        "请用三句话说明，不超过60字。",
    ],
)
def test_countable_instructions_are_obeyed(instruction: str) -> None:
    asked = f"{SUBJECT} {instruction}" if instruction.isascii() else f"我们在铁路旁养蜂。{instruction}"
    wanted = instructions_in_force((asked,))
    text = reply_to(asked)
    assert wanted
    assert {str(one): one.obeyed(text) for one in wanted} == {str(one): 1.0 for one in wanted}


def test_key_terms_come_from_the_conversation() -> None:
    assert {"beehives", "railway", "Ljubljana"} <= set(key_terms(Conversation((SUBJECT,), (), "")))


def test_givens_are_the_figures_with_their_unit() -> None:
    assert givens("The ice weighs 10 kg at 0 °C and costs 1,780 euros.") == ("10 kg", "0 °C", "1,780 euros")


def test_spelled_out_arithmetic_is_worked() -> None:
    assert "17% of 250 = 42.5" in reply_to("What is 17% of 250?")


def test_a_revision_takes_up_the_earlier_reply() -> None:
    own = "The town should spare the verge. The bees need it."
    text = reply_to(SUBJECT, "Rewrite your answer in exactly two sentences.", replies=(own,))
    assert text == own


def test_a_follow_up_quotes_the_earlier_reply() -> None:
    text = reply_to(SUBJECT, "What does that cost in a year?", replies=("The town should spare the verge.",))
    assert "The town should spare the verge." in text


def test_it_says_that_it_knows_nothing() -> None:
    assert "I do not know" in reply_to("Who painted the ceiling of the cathedral?")


def test_values_written_beside_a_key_are_found_and_others_left_null() -> None:
    text = reply_to("Name: Ama. City: Kumasi. Give JSON with the keys name, city, age.")
    assert json.loads(code_blocks(text)[0]) == {"name": "Ama", "city": "Kumasi", "age": None}


def test_code_is_a_frame_with_the_signature_asked_for() -> None:
    text = reply_to("Please write a function `charge(taps: list[int]) -> int` in Python.")
    compile(code_blocks(text)[0], "reply", "exec")
    assert "def charge(taps: list[int]) -> int:" in text


def test_the_system_message_counts() -> None:
    assert len(sentences(reply_to(SUBJECT, system="Answer in exactly two sentences."))) == 2
