"""Calls by the providers' batch services: half the price, answered within a day.

The engine `batch` runs the same jobs as every other; it is a transport of the remote chat models. A
call waits until nothing more comes, goes with all that wait into one batch, and gets its result
when the batch has ended. A conversation of two turns takes two batches. What is at a provider, or
about to be, is written down, so that the same command collects it after a stop or a kill.

    queue.py     calls gathered, submitted, polled, handed back
    journal.py   what is at which provider
    services.py  OpenAI's, Anthropic's and Gemini's services by their SDKs
"""

from harness.extras.batches.queue import BatchEngine

__all__ = ["BatchEngine"]
