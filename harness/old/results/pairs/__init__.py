"""Numbers from comparisons of two answers: win rates, the matrix of pairs, strengths."""
