"""Every tab that is written is shown."""

import pathlib

import viewer.old.tabs
from viewer.old.app import tabs_of
from viewer.old.context import Context
from viewer.old.store import Store


def test_every_module_of_tabs_is_a_tab(tmp_path: pathlib.Path) -> None:
    written = {path.stem for path in pathlib.Path(viewer.old.tabs.__path__[0]).glob("*.py")} - {"__init__"}
    shown = {tab.name for tab in tabs_of(Context(Store(tmp_path)))}
    assert shown == written
