"""Files on the Hugging Face Hub, by huggingface_hub: `hf://datasets/OWNER/NAME@REVISION/FILE`.

    file = fetch("hf://datasets/HuggingFaceH4/mt_bench_prompts@main/raw/question.jsonl")
    file.path       in the cache of huggingface_hub (HF_HUB_CACHE)
    file.address    the same with the commit in place of the revision: what bench.toml notes

Without `@REVISION` it is the newest. A token is taken from HF_TOKEN alone; HF_ENDPOINT names a
mirror.
"""

import contextlib
import os
import pathlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.errors import MissingError, UsageError

PREFIX = "hf://"
_ADVICE = "check the network, or name a mirror in HF_ENDPOINT"


class Address(NamedTuple):
    """A place on the hub."""

    repository: str
    revision: str | None
    path: str
    """Empty: the repository itself."""

    def __str__(self) -> str:
        at = f"@{self.revision}" if self.revision else ""
        return f"{PREFIX}datasets/{self.repository}{at}/{self.path}".rstrip("/")


class HubFile(NamedTuple):
    """A file that was fetched."""

    path: pathlib.Path
    address: Address
    """With the commit as its revision."""


def is_address(text: str) -> bool:
    """Return whether a text means a place on the hub."""
    return text.startswith(PREFIX)


def parse(text: str) -> Address:
    """Return an address that somebody typed.

    >>> parse("hf://datasets/me/talk@v2/data/test.parquet")
    Address(repository='me/talk', revision='v2', path='data/test.parquet')
    """
    pattern = r"hf://datasets/([\w.-]+/[\w.-]+)(?:@([^/\s]+))?(?:/(\S*))?"
    if (match := re.fullmatch(pattern, text)) is None:
        raise UsageError(f"{text}: write it hf://datasets/OWNER/NAME@REVISION/FILE")
    return Address(match[1], match[2], (match[3] or "").strip("/"))


def fetch(address: Address) -> HubFile:
    """Return a file, from the cache if it is there.

    Raises:
        MissingError: the hub cannot be reached, or has no such repository, revision or file.
    """
    if not address.path:
        raise UsageError(f"{address}: name a file of it, such as {address}/question.jsonl")
    import huggingface_hub
    from huggingface_hub.utils import disable_progress_bars

    disable_progress_bars()
    with _one_line(address):
        name = huggingface_hub.hf_hub_download(
            address.repository,
            address.path,
            repo_type="dataset",
            revision=address.revision,
            endpoint=os.environ.get("HF_ENDPOINT"),
            cache_dir=os.environ.get("HF_HUB_CACHE"),
            token=_token(),
        )
    path = pathlib.Path(name)  # .../snapshots/COMMIT/FILE
    commit = path.parts[-len(pathlib.PurePosixPath(address.path).parts) - 1]
    return HubFile(path, address._replace(revision=commit))


def list_files(address: Address) -> list[str]:
    """Return the paths of all files of a repository.

    Raises:
        MissingError: the hub cannot be reached, or has no such repository or revision.
    """
    import huggingface_hub

    api = huggingface_hub.HfApi(endpoint=os.environ.get("HF_ENDPOINT"), token=_token())
    with _one_line(address):
        return list(
            api.list_repo_files(address.repository, repo_type="dataset", revision=address.revision)
        )


def _token() -> str | bool:
    """Return the token; False: none, not the one that huggingface_hub keeps in a file."""
    return os.environ.get("HF_TOKEN") or False


@contextlib.contextmanager
def _one_line(address: Address) -> Iterator[None]:
    """Make one line of the errors of huggingface_hub."""
    from huggingface_hub import errors

    try:
        yield
        return
    except errors.GatedRepoError:
        why = "is gated: accept its terms on its page, and set HF_TOKEN"
    except errors.RepositoryNotFoundError:
        why = "there is no such data set, or it is private: check the name, or set HF_TOKEN"
    except errors.RevisionNotFoundError:
        why = f"has no revision {address.revision}"
    except errors.LocalEntryNotFoundError:  # an EntryNotFoundError, of a hub that does not answer
        why = f"cannot be fetched, the hub does not answer; {_ADVICE}"
    except errors.EntryNotFoundError:
        why = "has no such file"
    except (errors.HfHubHTTPError, OSError, ValueError) as error:
        first = str(error).strip().partition("\n")[0]
        why = f"cannot be fetched: {first}; {_ADVICE}"
    raise MissingError(f"{address}: {why}") from None
