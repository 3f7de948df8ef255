"""What proofs share with the tests: where the published questions are."""

from tests.conftest import reference_data

__all__ = ["reference_data"]
