"""Plain arithmetic that a text spells out, worked exactly.

"What is 17% of 250, and what is 12 plus 7 times 3?"  ->  17% of 250 = 42.5;  12 + 7 * 3 = 33
"""

import ast
import re
from fractions import Fraction
from typing import NamedTuple

_WORD_OPERATORS = (
    (r"\b(?:plus|added to)\b|加上?", " + "),
    (r"\bminus\b|减去?", " - "),
    (r"\b(?:times|multiplied by)\b|乘以?|×", " * "),
    (r"\bdivided by\b|除以|÷", " / "),
    (r"\bsquared\b|的?平方", " ^ 2"),
)
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_PERCENT = re.compile(rf"(?P<rate>{_NUMBER})\s?(?:%|per ?cent) of (?P<whole>{_NUMBER})", re.I)
_SUM = re.compile(rf"\b(?:sum|total) of (?P<terms>{_NUMBER}(?:(?:, (?:and )?| and ){_NUMBER})+)", re.I)
# A slash or a hyphen without spaces is more often a date, a range or a unit than a sum.
_OPERATOR = r"(?:\s*[+*^]\s*|\s+[-/]\s+)"
_EXPRESSION = re.compile(rf"(?<![A-Za-z0-9_./-])[(]*{_NUMBER}[)]*(?:{_OPERATOR}[(]*{_NUMBER}[)]*)+(?![A-Za-z0-9_/])")
_LONGEST = 160


class Sum(NamedTuple):
    """One calculation and its result, both as written out."""

    expression: str
    result: str

    def __str__(self) -> str:
        """Return the equation."""
        return f"{self.expression} {self.result}"


def worked_sums(text: str) -> tuple[Sum, ...]:
    """Return every calculation that the text spells out, with its result; what cannot be worked is left out."""
    found: list[Sum] = []
    for match in _PERCENT.finditer(text):
        value = _fraction(match["rate"]) * _fraction(match["whole"]) / 100
        found.append(Sum(match.group(0), _written(value)))
    for match in _SUM.finditer(text):
        terms = re.findall(_NUMBER, match["terms"])
        found.append(Sum(" + ".join(terms), _written(sum((_fraction(term) for term in terms), Fraction(0)))))
    plain = text
    for pattern, operator in _WORD_OPERATORS:
        plain = re.sub(rf"\s*(?:{pattern})\s*", operator, plain, flags=re.I)
    for match in _EXPRESSION.finditer(plain):
        expression = " ".join(match.group(0).split())
        value_or_none = value_of(expression)
        if value_or_none is not None:
            found.append(Sum(expression, _written(value_or_none)))
    return tuple(dict.fromkeys(found))


def value_of(expression: str) -> Fraction | None:
    """Return the exact value of an expression of numbers, + - * / ^ and brackets, or None."""
    if len(expression) > _LONGEST:
        return None
    try:
        tree = ast.parse(re.sub(r"\b0+(?=\d)", "", expression.replace(",", "")).replace("^", "**"), mode="eval")
        return _value(tree.body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        return None


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Fraction(str(node.value))
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
            case ast.Pow() if right.denominator == 1 and 0 <= right <= 20 and abs(left) <= 10**6:
                return Fraction(left ** int(right))
    raise ValueError(ast.dump(node))


def _fraction(written: str) -> Fraction:
    return Fraction(written.replace(",", ""))


def _written(value: Fraction) -> str:
    """Return `= 42.5`, or `is about 0.333333` where the decimals do not end within six places."""
    if value.denominator == 1:
        return f"= {value.numerator}"
    shortened = f"{float(value):.6f}".rstrip("0").rstrip(".")
    return f"= {shortened}" if Fraction(shortened) == value else f"is about {shortened}"
