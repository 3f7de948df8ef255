"""What is not about judgments in particular: resampling, tests, ranks, rounding."""
