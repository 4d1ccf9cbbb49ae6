#!/usr/bin/env python3
"""How few tiles a clever prover must read or move in one pass of section 7. A count, not a measurement of a device.

partner_reuse.py [LOG2_W]     default 16; prints tiles read per tile of the fill, and tiles that cross between two cards
"""
import hashlib
import sys

import tsp1


def partners(z, count):
    return [tsp1.memory_partner(z, u, count) for u in range(count)]


def readers(partner):
    """For each tile the tiles u that have it as their partner."""
    found = [[] for _ in partner]
    for u, v in enumerate(partner):
        found[v].append(u)
    return found


def cycle_tiles(partner):
    """One tile of every cycle: where the walks down the trees start."""
    state, starts = [0] * len(partner), []
    for u in range(len(partner)):
        walk, v = [], u
        while state[v] == 0:
            state[v] = 1
            walk.append(v)
            v = partner[v]
        if state[v] == 1:
            starts.append(v)
        for tile in walk:
            state[tile] = 2
    return starts


def reads(partner, on_chip):
    """Tiles read when a worker walks from partner to readers and holds at most on_chip tiles besides the one read."""
    children, waiting, seen, count = readers(partner), cycle_tiles(partner), set(), 0
    while waiting:
        start = waiting.pop()
        if start in seen:
            continue
        seen.add(start)
        count += 1
        held = [iter(children[start])]
        while held:
            u = next(held[-1], None)
            if u is None:
                held.pop()
                continue
            count += 1
            if u in seen or not children[u]:
                continue
            if len(held) < on_chip:
                seen.add(u)
                held.append(iter(children[u]))
            else:
                waiting.append(u)
    return count


def crossings(partner):
    """Tiles that must cross when even tiles lie on one card and odd ones on the other: (naive, distinct, fewest).

    Either tile of a pair may be the one that moves, so the fewest is a vertex cover; leaves first is exact on a forest.
    """
    pairs = {(u, v) for u, v in enumerate(partner) if (u ^ v) & 1}
    near = {}
    for u, v in pairs:
        near.setdefault(u, set()).add(v)
        near.setdefault(v, set()).add(u)
    leaves, moved = [u for u, others in near.items() if len(others) == 1], 0
    while near:
        u = leaves.pop() if leaves else next(iter(near))
        if not near.get(u):
            near.pop(u, None)
            continue
        cover = next(iter(near[u]))
        moved += 1
        for other in near.pop(cover):
            near[other].discard(cover)
            if len(near[other]) == 1:
                leaves.append(other)
    return len(pairs), len({v for _, v in pairs}), moved


def main(arguments):
    count = 1 << int(arguments[0]) if arguments else 1 << 16
    partner = partners(hashlib.sha256(b"partner reuse").digest(), count)
    for on_chip in (1, 2, 4, 8, 16, 64):
        print("tiles on chip per worker %2d: %.3f reads a tile (2 as counted)" % (on_chip, reads(partner, on_chip) / count))
    print("crossing between two cards: %.3f of W counted, %.3f distinct partners, %.3f at the least"
          % tuple(number / count for number in crossings(partner)))


if __name__ == "__main__":
    main(sys.argv[1:])
