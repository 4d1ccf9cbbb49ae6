#!/usr/bin/env python3
"""How few tiles a clever prover must read or move in one pass of section 7. A count, not a measurement of a device.

partner_reuse.py [LOG2_W]     default 16; prints tiles read per tile of the fill, and tiles that cross between two memories
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


def each_way(partner, side):
    """Tiles that must cross in each direction, where `side` of a tile is 0, 1, or None for one that both sides have.

    Every pair between the sides needs one of its tiles on the other. By Koenig that is as many tiles as the largest set of
    pairs that have none in common; both directions at once share them.
    """
    near = {}
    for u, v in enumerate(partner):
        if side(u) is not None and side(v) is not None and side(u) != side(v):
            low, high = (u, v) if side(u) == 0 else (v, u)
            near.setdefault(low, []).append(high)
    mate_of_low, mate_of_high = {}, {}
    for start in near:
        came, waiting, free = {}, [start], None
        while waiting and free is None:
            low = waiting.pop()
            for high in near[low]:
                if high not in came:
                    came[high] = low
                    if high not in mate_of_high:
                        free = high
                        break
                    waiting.append(mate_of_high[high])
        while free is not None:
            low = came[free]
            mate_of_high[free], free_before = low, mate_of_low.get(low)
            mate_of_low[low], free = free, free_before
    return len(mate_of_low) / 2


def main(arguments):
    count = 1 << int(arguments[0]) if arguments else 1 << 16
    partner = partners(hashlib.sha256(b"partner reuse").digest(), count)
    for on_chip in (1, 2, 4, 8, 16, 64):
        print("tiles on chip per worker %2d: %.3f reads a tile (2 as counted)" % (on_chip, reads(partner, on_chip) / count))
    print("crossing between two cards: %.3f of W counted, %.3f distinct partners, %.3f at the least"
          % tuple(number / count for number in crossings(partner)))
    for share in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5):
        least = each_way(partner, lambda u: int(u >= share * count)) / count
        print("%.2f of the fill beside the card: %.3f of W crosses each way at the least, %.2f of that part; a link of 64 GB/s "
              "each way does as much as %.0f one way" % (share, least, least / share, 64 * share / least))
    for share in (0.5, 0.6, 0.7, 0.8):
        least = each_way(partner, lambda u: 0 if u < (1 - share) * count else 1 if u >= share * count else None) / count
        print("two cards with %.1f of the fill each: %.3f of W each way at the least; at 64 GB/s each way passes read up to "
              "%.1f TB/s, at 26 up to %.1f" % (share, least, 0.128 / least, 0.052 / least))


if __name__ == "__main__":
    main(sys.argv[1:])
