"""Models that run in this process, for metrics and as chat models: found and checked first, loaded when they are used.

Everything here needs the extra [models]. A name is a folder with a checkpoint, or a repository of the Hugging Face hub,
with `@` and a revision where it is not to be the newest.
"""

import contextlib
import functools
import hashlib
import importlib.util
import os
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from harness.old.errors import UsageError

SPREAD = "auto"
"""Instead of a device: one model spread over all GPUs of the process."""


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
        """What the weights are known by: the commit of a repository, the hash of a folder's files."""
        return self.revision or _hash_of(pathlib.Path(self.place))

    def load(self, kind: str, device: str | None, dtype: str = "float32") -> Any:
        """Return the model, of a class of transformers such as `AutoModel`, ready to compute.

        The default is single precision everywhere, so that a GPU gives the numbers of a CPU; `auto` is the precision
        in which the weights are stored. On the device `SPREAD` the layers are spread over all GPUs that there are.

        Raises:
            UsageError: the weights cannot be loaded, or there is no such device.
        """
        transformers = library()
        import torch

        where = device or ("cuda" if torch.cuda.is_available() else "cpu")
        precision = "auto" if dtype == "auto" else getattr(torch, dtype)
        if where == SPREAD and not _has_accelerate():
            raise UsageError(
                f"{self.name}: accelerate, which spreads a model over GPUs, is missing: pip install 'turnbench[models]'"
            )
        spread = {"device_map": "auto"} if where == SPREAD else {}
        with _one_line(self.name):
            model = getattr(transformers, kind).from_pretrained(
                self.place, revision=self.revision or "main", dtype=precision, **spread
            )
        if spread:
            return model.eval()
        try:
            return model.to(where).eval()
        except (RuntimeError, AssertionError) as error:
            raise UsageError(f"--device {where} cannot be used: {first_line(error)}") from error


def _has_accelerate() -> bool:
    """Return whether the package is installed with which transformers spreads a model."""
    return importlib.util.find_spec("accelerate") is not None


def find(name: str) -> Checkpoint:
    """Return the checkpoint of that name; of a repository, only the small files are brought.

    Raises:
        UsageError: there is none, it cannot be read or reached, or the extra [models] is not installed.
    """
    transformers = library()
    folder = pathlib.Path(os.path.expanduser(name))
    is_folder = os.path.isdir(folder)  # False for whatever cannot be a path
    if not is_folder and name.startswith(("/", ".", "~")):  # no repository is called so
        raise UsageError(f"{name}: no such folder of weights")
    place, _, revision = (str(folder), "", "") if is_folder else name.partition("@")
    if is_folder and not (folder / "config.json").is_file():
        raise UsageError(f"{name} contains no model: config.json is missing")
    with _one_line(name):
        config = transformers.AutoConfig.from_pretrained(place, revision=revision or "main")
    with _one_line(name, "tokenizer"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, revision=revision or "main")
    commit = None if is_folder else _commit(place, revision or "main")
    return Checkpoint(name, place, commit, config, tokenizer)


def _commit(repository: str, revision: str) -> str:
    """Return the commit of a repository that was just read: the name of its folder in the hub's cache."""
    from huggingface_hub import try_to_load_from_cache

    file = try_to_load_from_cache(repository, "config.json", revision=revision)
    return pathlib.Path(file).parent.name if isinstance(file, str) else revision


@functools.cache
def library() -> Any:
    """Return transformers with its progress bars and advice turned off."""
    try:
        import huggingface_hub
        import torch  # noqa: F401
        import transformers
    except ImportError as error:
        raise UsageError(
            f"models that run here need the extra [models] ({error.name} is missing): pip install 'turnbench[models]'"
        ) from None
    huggingface_hub.utils.logging.set_verbosity_error()
    huggingface_hub.utils.disable_progress_bars()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


@contextlib.contextmanager
def computing(batch_size: int) -> Iterator[None]:
    """Disable gradients, and turn an out-of-memory error into one line.

    Raises:
        UsageError: the GPU is out of memory for so many texts at once.
    """
    import torch

    try:
        with torch.inference_mode():
            yield
    except torch.OutOfMemoryError as error:
        raise UsageError(f"the GPU is out of memory for {batch_size} texts at once; lower --batch-size") from error


@contextlib.contextmanager
def _one_line(name: str, part: str = "model") -> Iterator[None]:
    """Turn any error in loading a part of a checkpoint into one line."""
    try:
        yield
    except Exception as error:  # transformers raises what its many readers of files raise
        if os.path.isdir(os.path.expanduser(name)):
            reason = f"{name} holds no {part} that can be loaded: {first_line(error)}"
        elif _is_unreachable(error):
            reason = f"{name!r} is not a folder here, and the Hugging Face hub cannot be reached; give a folder"
        else:
            reason = f"{name!r} is not a folder here, and the Hugging Face hub does not provide it: {first_line(error)}"
        raise UsageError(reason) from error


def _is_unreachable(error: BaseException) -> bool:
    """Return whether a connection failed, or none was to be made, anywhere below an error."""
    from huggingface_hub.errors import LocalEntryNotFoundError, OfflineModeIsEnabled

    causes: list[BaseException] = []
    while error is not None and error not in causes:
        causes.append(error)
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return any(isinstance(one, LocalEntryNotFoundError | OfflineModeIsEnabled | ConnectionError) for one in causes)


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300].rstrip(": ")


def _hash_of(folder: pathlib.Path) -> str:
    """Return a hash of a folder's files: another checkpoint may have the same name and the same size."""
    whole = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            with path.open("rb") as file:
                whole.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()[:16]


def versions() -> str:
    """Return the versions of the libraries that compute, such as `transformers 5.23.0, torch 2.13.0`."""
    import torch

    return f"transformers {library().__version__}, torch {torch.__version__.partition('+')[0]}"


def in_batches(size: int, texts: list[str], compute: Callable[[list[str]], list[Any]]) -> list[Any]:
    """Return what `compute` makes of each text, in their order; it gets texts of similar length at once."""
    order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    found: list[Any] = [None] * len(texts)
    for start in range(0, len(order), size):
        places = order[start : start + size]
        for place, made in zip(places, compute([texts[place] for place in places]), strict=True):
            found[place] = made
    return found
