#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""Queues jobs and runs them. A second sentence."""

from __future__ import annotations

import os
import logging as log
from typing import TYPE_CHECKING, Callable
from .store import Store

if TYPE_CHECKING:
    from .types import Job

__all__ = ["Queue", "run"]

MAX_JOBS = 10  # at once
timeout: float = 1.5
_cache = {}


class Queue(Store, metaclass=abc.ABCMeta):
    """A queue of jobs.

    It is not safe for concurrent use.
    """

    size: int = 0
    name = "queue"

    def __init__(
        self,
        store: Store,
        *,
        limit: int = MAX_JOBS,
    ) -> None:
        # remembers the store
        self.store = store

        def helper():
            pass

    @property
    def empty(self) -> bool:
        """Whether nothing waits, i.e. size is zero."""
        return self.size == 0

    @staticmethod
    async def drain(jobs): ...

    def _push(self, job): self.size += 1

    class Error(Exception):
        pass


@retry(times=3)
def run(job: "Job", *args, key: Callable[[int], str] = lambda n: str(n), **kw) -> str:
    r'''Runs one job and waits for it!'''
    return f"{job} {key(1)}"


try:
    import fast
except ImportError:
    # used where there is no C
    def fast(x): return x

type Pair = tuple[int, int]
