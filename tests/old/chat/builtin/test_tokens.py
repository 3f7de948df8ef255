import pytest

from harness.old.chat.builtin import tokens


def test_han_characters_are_words_of_their_own() -> None:
    assert tokens.words("Don't pay 1,780 euros: 明天再说。") == (
        "don't",
        "pay",
        "1,780",
        "euros",
        "明",
        "天",
        "再",
        "说",
    )


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("Twenty-five at 3:30, isn't it?", 5, id="hyphen, time, apostrophe"),
        pytest.param("a,b,c", 3, id="a comma without a space"),
        pytest.param("1,780 euros", 2, id="thousands"),
        pytest.param("明天 at noon", 4, id="mixed"),
    ],
)
def test_words_are_counted_as_a_writer_does(text: str, count: int) -> None:
    assert tokens.count_words(text) == count


def test_sentences_end_at_marks_and_line_breaks_but_not_at_abbreviations() -> None:
    assert tokens.sentences("Dr. Osei left. 他走了。为什么？\n- a list item\n- 2.5 m is it. Good!") == (
        "Dr. Osei left.",
        "他走了。",
        "为什么？",
        "a list item",
        "2.5 m is it.",
        "Good!",
    )


def test_a_cut_text_has_the_tokens_it_was_cut_to() -> None:
    text = "One, two; 三四 five."
    assert [tokens.count_tokens(tokens.cut_tokens(text, most)) for most in range(8)] == list(range(8))


def test_numbers_are_normalised() -> None:
    assert tokens.numbers("1,780.50 and \u22123 and 007") == ("1780.5", "-3", "7")
