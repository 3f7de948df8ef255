"""Tokens in every script."""

import pathlib
import subprocess
import sys

import pytest

from harness.old.metrics.tokens import characters, words

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("Don't stop: 3.5_km!", "don t stop 3 5 km", id="english"),
        pytest.param("Árvíztűrő tükörfúrógép", "árvíztűrő tükörfúrógép", id="hungarian"),
        pytest.param("o\u030brse\u0301g", "őrség", id="marks apart"),
        pytest.param("猫坐在GPU上。", "猫 坐 在 gpu 上", id="chinese"),
        pytest.param("ネコがいる", "ネ コ が い る", id="japanese"),
        pytest.param("हिन्दी भाषा", "हिन्दी भाषा", id="hindi keeps its vowel signs"),
        pytest.param("ภาษา", "ภ า ษ า", id="thai"),
        pytest.param("Привет, мир", "привет мир", id="russian"),
        pytest.param("🙂 !? ", "", id="no words"),
    ],
)
def test_words(text: str, tokens: str) -> None:
    assert " ".join(words(text)) == tokens


def test_characters_leave_out_spaces_only() -> None:
    assert characters("A b\n。") == ("a", "b", "。")


def test_without_the_extra_jieba_is_one_line_that_names_it() -> None:
    code = (
        "import sys; sys.modules['jieba'] = None\n"
        "from harness.old.errors import UsageError\n"
        "from harness.old.metrics.tokens import jieba_words\n"
        "try: jieba_words('好')\n"
        "except UsageError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "the tokenizer jieba needs the extra [zh]: pip install 'turnbench[zh]'"
