"""What measures local weights runs through by itself, whatever device there is."""

import pathlib

import pytest

from benchmarks import local
from tests.old.chat.local.tiny_llama import save_llama

pytestmark = pytest.mark.models


@pytest.mark.parametrize("device", [[], ["--device", "cpu"]], ids=["what there is", "cpu"])
def test_three_rates_are_measured(
    device: list[str], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(save_llama(tmp_path))
    local.main(["--model-path", path, "--conversations", "3", "--tokens", "4", "--batch-size", "2", *device])
    head, one, several, alone = capsys.readouterr().out.splitlines()
    assert "3 conversations, at most 4 tokens each" in head
    assert float(one.split()[4]) > 0
    assert float(several.split()[2]) > 0
    assert float(alone.split()[2]) > 0


def test_the_clock_is_read_when_a_gpu_has_done_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    waited: list[str] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    assert local._settled("cpu") < local._settled("cuda:1")
    assert waited == ["cuda:1"]
