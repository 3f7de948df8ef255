"""Weights in a folder or in a repository of the Hugging Face hub (`NAME` or `NAME@REVISION`)."""

import contextlib
import functools
import hashlib
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from harness.errors import UsageError

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
    if folder.is_dir():
        place, revision = str(folder), ""
        if not (folder / "config.json").is_file():
            raise UsageError(f"{name} contains no model: config.json is missing")
    elif name.startswith(("/", ".", "~")):
        raise UsageError(f"{name}: no such folder of weights")
    else:
        place, _, revision = name.partition("@")
    with _one_line(name, "model"):
        config = transformers.AutoConfig.from_pretrained(place, revision=revision or "main")
    with _one_line(name, "tokenizer"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, revision=revision or "main")
    commit = None if folder.is_dir() else getattr(config, "_commit_hash", None) or revision
    return Checkpoint(name, place, commit, config, tokenizer)


@functools.cache
def library() -> Any:
    """Return transformers, its progress bars and advice turned off.

    Raises:
        UsageError: the extra [models] is not installed.
    """
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError as error:
        raise UsageError(
            f"local models need the extra [models] ({error.name} is missing): "
            "pip install 'turnbench[models]'"
        ) from None
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def versions() -> str:
    """Return the versions of what computes, such as `transformers 5.23.0, torch 2.13.0`."""
    import torch

    version = torch.__version__.partition("+")[0]
    return f"transformers {library().__version__}, torch {version}"


@contextlib.contextmanager
def computing(batch_size: int) -> Iterator[None]:
    """Compute without gradients.

    Raises:
        UsageError: the GPU is out of memory for so many texts at once.
    """
    import torch

    try:
        with torch.inference_mode():
            yield
    except torch.OutOfMemoryError as error:
        raise UsageError(
            f"no memory on the GPU for {batch_size} texts at once; lower --batch-size"
        ) from error


def in_batches(size: int, texts: list[str], compute: Callable[[list[str]], list[Any]]) -> list[Any]:
    """Return what `compute` makes of each text; it gets texts of similar length at once."""
    order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    found: list[Any] = [None] * len(texts)
    for start in range(0, len(order), size):
        places = order[start : start + size]
        for place, made in zip(places, compute([texts[p] for p in places]), strict=True):
            found[place] = made
    return found


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300].rstrip(": ")


@contextlib.contextmanager
def _one_line(name: str, part: str) -> Iterator[None]:
    """Turn any error in loading a part of a checkpoint into one line."""
    try:
        yield
    except Exception as error:  # transformers raises what its many readers of files raise
        if pathlib.Path(name).expanduser().is_dir():
            reason = f"{name} holds no {part} that can be loaded: {first_line(error)}"
        else:
            reason = f"{name!r} is no folder here, and no repository that can be read from the "
            reason += f"Hugging Face hub: {first_line(error)}"
        raise UsageError(reason) from error


def _hash_of(folder: pathlib.Path) -> str:
    """Return a hash of a folder's files: other weights may have the same name and size."""
    whole = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            whole.update(f"{path.name} {digest}\n".encode())
    return whole.hexdigest()[:16]
