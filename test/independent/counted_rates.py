#!/usr/bin/env python3
"""The counted rates of C7, version 2, for arrival times made up by a test.

Reads a JSON list of parts {kind, m, n, k, rounds, kept, zSentUs, arrivalsUs (one list per device)}, writes a list of
rates per part.
"""
import json
import sys
from types import SimpleNamespace

from judgement import FILLS, bound_rate


def rates(given):
    part = SimpleNamespace(kind=given["kind"], asked=given, tiles=given["m"] * given["n"] // 1024, kept=lambda d: given["kept"][d])
    start = given["zSentUs"] or 0
    skip = given["kept"] if given["kind"] in FILLS else [0] * len(given["arrivalsUs"])
    timed = {d: [at - start for at in arrivals[skip[d]:]] for d, arrivals in enumerate(given["arrivalsUs"])}
    return [bound_rate(part, timed, device) for device in timed]


if __name__ == "__main__":
    json.dump([rates(given) for given in json.load(sys.stdin)], sys.stdout)
