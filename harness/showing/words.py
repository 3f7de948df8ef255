"""The fields of rows in plain words, for the headings that people read; programs get the fields' own names."""

_HEADINGS = {
    "biased_first": "biased to first",
    "biased_second": "biased to second",
    "brier": "Brier score",
    "corrected": "corrected win rate",
    "decided_games": "decided games",
    "differ": "share of disagreement",
    "drop": "turn 1 less turn 2",
    "ece": "calibration error",
    "equal_length": "win rate at equal length",
    "errors": "no verdict",
    "f1": "F1",
    "facet": "source of variance",
    "first_share": "first answer wins",
    "given_attempted": "correct of attempted",
    "judge1": "judge 1",
    "judge2": "judge 2",
    "left_out": "left out",
    "length_controlled_winrate": "win rate, length-controlled",
    "mean_difference": "characters longer",
    "mean_over_opponents": "mean over opponents",
    "model_1": "model 1",
    "model_2": "model 2",
    "not whole": "empty, cut or refused",
    "one_sided_tie": "tie in one order",
    "p_holm": "p (Holm)",
    "pending": "replies kept",
    "ratio": "agreement",
    "rest_by_judge": "other models, by the judge",
    "rest_by_others": "other models, by others",
    "own_by_judge": "own models, by the judge",
    "own_by_others": "own models, by others",
    "sd": "standard deviation",
    "superseded": "out of date",
    "unanswered": "answers awaited",
    "unparsed": "no verdict",
    "win_rate_adjusted": "win rate, ties half",
}


def heading_of(field: str) -> str:
    """Return what stands over a column: `win_rate_adjusted` is "win rate, ties half"."""
    return _HEADINGS.get(field) or field.replace("_", " ")
