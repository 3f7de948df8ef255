"""A text cut into its sentences, in any language, without anything to download."""

from harness.errors import UsageError


def sentences(text: str, language: str = "en") -> list[str]:
    """Return the sentences of a text; none of a text without any letter, digit or sign.

    Raises:
        UsageError: the extra [models] is not installed.
    """
    try:
        from sentencex import segment
    except ImportError:
        raise UsageError("cutting sentences needs the extra [models]: pip install 'turnbench[models]'") from None
    return [cut for found in segment(language, text) if (cut := found.strip())]
