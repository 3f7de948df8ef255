"""What `show_result --style` shows: the models' strengths at equal style, and what each feature is worth."""

from typing import Any

from harness.old.results.styled import StyleResult
from harness.old.showing.items import Page, Table, flat


def style_page(result: StyleResult) -> Page:
    """Return the page of strengths at equal style."""
    rows = [{"model": line.model, **line.fields} for line in result.styled.rows]
    features = [{"feature": name, "coefficient": own} for name, own in result.styled.coefficients.items()]
    facts = {"style": "at equal style", "questions": result.bench, "judge": result.judge, "judge set": result.judge_set}
    data: dict[str, Any] = {"bench": result.bench, "judge": result.judge, "judge_set": result.judge_set}
    data |= {"rows": list(map(flat, rows)), "features": list(map(flat, features))}
    items = [Table("", rows, places=0), Table("Effects of style", features)]
    return Page("At equal style", facts, items, result.notes, data, rows)
