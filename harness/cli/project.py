"""The models of turnbench.toml, for commands that may make no calls."""

from harness.cli.parser import read_project
from harness.models import ModelConfig
from harness.store import convert


def configs() -> dict[str, ModelConfig]:
    """Return the models of turnbench.toml.

    Raises:
        DataError: a table is not what it must be.
    """
    return {
        name: convert(table, ModelConfig, f"turnbench.toml: [models.{name}]")
        for name, table in read_project().models.items()
    }
