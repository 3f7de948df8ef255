"""Weights in a folder or in a repository of the Hugging Face hub (`NAME` or `NAME@REVISION`)."""

import contextlib
import functools
import hashlib
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.errors import UsageError, require
from harness.metrics import Setup
from harness.metrics.metric import versions

T = TypeVar("T")
ALL_GPUS = "auto"
"""In place of a device: the layers of one model are spread over all GPUs."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model that can be loaded, and what is known of it before."""

    name: str
    """As the user gave it."""
    place: str
    """The folder or the repository."""
    revision: str | None
    """The commit of a repository, so that the weights are those whose small files were read."""
    config: Any
    tokenizer: Any

    @property
    def identity(self) -> str:
        """What the weights are known by: a repository's commit, or a hash of a folder's files."""
        return self.revision or _hash_of(pathlib.Path(self.place))

    def load(self, kind: str, device: str | None, dtype: str = "float32") -> Any:
        """Return the model, of a class of transformers such as `AutoModel`, ready to compute.

        Single precision is the default everywhere, so that a GPU gives the numbers of a CPU;
        `auto` is the precision in which the weights are stored.

        Raises:
            UsageError: the weights cannot be loaded, or there is no such device.
        """
        transformers = library()
        import torch

        where = device or ("cuda" if torch.cuda.is_available() else "cpu")
        more = {"device_map": "auto"} if where == ALL_GPUS else {}
        precision = "auto" if dtype == "auto" else getattr(torch, dtype)
        with _one_line(self.name, "model"):
            model = getattr(transformers, kind).from_pretrained(
                self.place, revision=self.revision or "main", dtype=precision, **more
            )
        try:
            return (model if where == ALL_GPUS else model.to(where)).eval()
        except (RuntimeError, AssertionError) as error:
            raise UsageError(f"--device {where} cannot be used: {first_line(error)}") from error


def find(name: str) -> Checkpoint:
    """Return the checkpoint of that name; of a repository, only the small files are fetched.

    Raises:
        UsageError: there is none, it cannot be read or reached, or the extra is missing.
    """
    transformers = library()
    folder = pathlib.Path(name).expanduser()
    place, _, revision = name.partition("@")
    if folder.is_dir():
        place, revision = str(folder), ""
    elif name.startswith(("/", ".", "~")):
        raise UsageError(f"{name}: no such folder of weights")
    with _one_line(name, "model"):
        config = transformers.AutoConfig.from_pretrained(place, revision=revision or "main")
    with _one_line(name, "tokenizer"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, revision=revision or "main")
    commit = None if folder.is_dir() else getattr(config, "_commit_hash", None) or revision
    return Checkpoint(name, place, commit, config, tokenizer)


class TextModel:
    """A model that reads texts, in batches of similar length."""

    def __init__(self, name: str, kind: str, setup: Setup) -> None:
        """Find the checkpoint; the model, of that class of transformers, is loaded when used.

        Raises:
            UsageError: there is none, it cannot be read or reached, or the extra is missing.
        """
        self.checkpoint, self._kind, self._setup = find(name), kind, setup
        self.library = versions("transformers", "torch").partition("+")[0]

    def read(
        self, texts: list[str], longest: int, results: Callable[[Any, Any], list[T]]
    ) -> list[T]:
        """Return what `results(model, encoded)` makes of each text, cut after `longest` tokens.

        Raises:
            UsageError: the GPU is out of memory for so many texts at once.
        """
        import torch

        size = self._setup.batch_size
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        by_place: dict[int, T] = {}
        for start in range(0, len(order), size):
            places = order[start : start + size]
            encoded = self.checkpoint.tokenizer(
                [texts[place] for place in places],
                padding=True,
                truncation=True,
                max_length=longest,
                return_tensors="pt",
                return_special_tokens_mask=True,
            ).to(self._model.device)
            try:
                with torch.inference_mode():
                    by_place.update(zip(places, results(self._model, encoded), strict=True))
            except torch.OutOfMemoryError as error:
                raise UsageError(
                    f"no memory on the GPU for {size} texts at once; lower --batch-size"
                ) from error
        return [by_place[place] for place in range(len(texts))]

    @functools.cached_property
    def _model(self) -> Any:
        return self.checkpoint.load(self._kind, self._setup.device)


@functools.cache
def library() -> Any:
    """Return transformers, its progress bars and advice turned off.

    Raises:
        MissingError: the extra [models] is not installed.
    """
    require("models", "torch", "transformers")
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300].rstrip(": ")


@contextlib.contextmanager
def _one_line(name: str, part: str) -> Iterator[None]:
    """Turn any error in loading a part of a checkpoint into one line."""
    try:
        yield
    except Exception as error:  # transformers raises what its many readers of files raise
        raise UsageError(
            f"no {part} can be loaded from {name}, which is to be a folder of weights or a "
            f"repository of the Hugging Face hub: {first_line(error)}"
        ) from error


def _hash_of(folder: pathlib.Path) -> str:
    """Return a hash of a folder's files: other weights may have the same name and size."""
    whole = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            whole.update(f"{path.name} {digest}\n".encode())
    return whole.hexdigest()[:16]
