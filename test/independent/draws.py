"""W4.3.4 of docs/spec/work.md: which patches of a drawn segment are opened."""
import hashlib
import struct

PRODUCTS = {"product", "productPieces", "flow", "picture"}
WANTED = {"optimiser": 4, "product": 16, "other": 12}


def hash_of(q, what, index):
    return hashlib.sha256(b"tsw1/pick" + q + what.encode() + b"\0" + struct.pack("<I", index)).digest()


def pick(q, what, index, below):
    return below * int.from_bytes(hash_of(q, what, index)[:8], "little") >> 64


def kind_of(op):
    if op.startswith(("adamW", "sgd")):
        return "optimiser"
    return "product" if op in PRODUCTS else "other"


def patches_of(step):
    return step["rows"] * step["cells"] if step["op"] == "put" else step["patches"]


def fresh_of(step):
    """W2.11.9: the cells that are from the piece, counted as all cells are."""
    if step["op"] != "put":
        return []
    return [row * step["cells"] + cell for row in range(step["rows"]) for cell in range(step["cells"])
            if row >= step["row"] and 0 <= cell - step["column"] < step["each"]]


def patch_of(step, q, what, index, is_choke):
    fresh = fresh_of(step)
    if fresh and (is_choke or hash_of(q, what, index)[8] & 1):
        return fresh[pick(q, what, index, len(fresh))]
    return pick(q, what, index, patches_of(step))


def drawn(transitions, q):
    chosen = pick(q, "choke transition", 0, len(transitions))
    chokes = [at for at, step in enumerate(transitions[chosen]) if step["isChoke"]]
    found = [(chosen, at, patch_of(transitions[chosen][at], q, "choke patch", i, True)) for i, at in enumerate(chokes)]
    for what, wanted in WANTED.items():
        steps = [(t, at, step) for t, steps in enumerate(transitions) for at, step in enumerate(steps)
                 if kind_of(step["op"]) == what]
        weights = [step["operations"] if what == "product" else 1 for _, _, step in steps]
        for i in range(wanted if steps else 0):
            rest, place = pick(q, what, i, sum(weights)), 0
            while rest >= weights[place]:
                rest -= weights[place]
                place += 1
            t, at, step = steps[place]
            found.append((t, at, patch_of(step, q, what + " patch", i, False)))
    return found


def step(op, patches, operations=0, is_choke=False):
    return {"op": op, "isChoke": is_choke, "operations": operations, "patches": patches}


def put(rows, cells, each, row, column, is_choke=False):
    return {"op": "put", "isChoke": is_choke, "operations": 0,
            "rows": rows, "cells": cells, "each": each, "row": row, "column": column}


SEGMENTS = {
    "a training": [[step("embed", 64, 0, True), step("product", 4096, 2**40, True), step("productPieces", 512, 2**33),
                    step("add", 16), step("adamWFirst", 9), step("adamWWeight", 9), step("clipFactor", 1, 0, True)]] * 2,
    "one token of each sequence": [[step("embed", 4, 0, True), step("product", 999, 1998), put(8, 31, 1, 0, 9 + at),
                                    step("argmax", 4, 0, True), put(4, 32, 1, 0, 10 + at, True)] for at in range(3)],
    "a prompt, and one that goes on": [[put(6, 40, 7, 0, 0), step("flow", 5, 11), put(3, 41, 1, 2, 7, True)],
                                       [put(6, 40, 1, 0, 7), step("flow", 5, 11), put(3, 41, 1, 1, 8, True)]],
    "nothing but one cell": [[put(1, 1, 1, 0, 0, True)]],
}


def cases(seed):
    return [{"name": name, "transitions": transitions, "q": q.hex(), "drawn": [list(one) for one in drawn(transitions, q)]}
            for name, transitions in SEGMENTS.items() for q in [seed("draws %s %d" % (name, i)) for i in range(3)]]
