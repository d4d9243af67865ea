#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""A module.

  With  spaces.
"""
from __future__ import annotations

import os, sys
from typing import (
    Any,
    Iterable,  # used below
)

LIMIT = 1_000  # most
NAMES = {"a": [1, 2, (3,)], 'b': {x for x in "ab" if x}}
TEXT = f"{LIMIT!r:>10}  {NAMES['a'][0] + 1} {{x}}" "joined  " \
    'parts'


# Plain, about Job.
@property
class Job(Base, metaclass=Meta):
    """Does it."""

    x: int = 1

    def run(self, *args: Any, key=None, **kw) -> int | None:
        # in the body
        if not args and key is None:
            return -1
        elif key: pass
        else:
            for i, (a, b) in enumerate(args):
                if a: continue; print(b)
                # at the end of a loop

            else:
                x = lambda y, /, *z: (yield y)
        try:
            with open(os.path.join("a", "b")) as f, \
                    open(key) as g:
                print(f.read(), file=sys.stderr)
        except (OSError, ValueError) as e:
            raise RuntimeError('''a
  b''') from e
        finally:
            del self.x
        assert x < 1 <= 2, "no"
        return (a
                if b else [c
                           for c in d])

async def main():
    async with x as y: await y
    if (n := 10) > 5: n -= 1; n **= 2
    match n:
        case [1, *rest] if rest: pass
        case {"k": v}:
            global Z
            Z = n[1:2, ::3] @ ~v
if __name__ == "__main__":
	sys.exit(main())
