"""Chat models: who they are (`resolve`), how to talk to one (`open_chat_model`), and the one protocol they all keep.

Every provider is one file here, and `providers.py` has the table of them; no other room asks which provider it has.
"""

from harness.old.chat.endpoint import Endpoint
from harness.old.chat.model import ChatModel
from harness.old.chat.providers import open_chat_model, open_pool, resolve

__all__ = ["ChatModel", "Endpoint", "open_chat_model", "open_pool", "resolve"]
