#!/usr/bin/env python3
"""Writes docs/spec/worked-example.md: one tiny run, byte by byte. No clock, no chance: the bytes never change.

worked_example.py            writes the file
worked_example.py --check    compares it with what lies there; exit 1 where they differ
"""
import os
import sys

import ed25519
import tsp1

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "spec", "worked-example.md")
SIZE, DEPTH, ROUNDS = 64, 32, 2
TILES = tsp1.tile_count(SIZE, SIZE)


def fixed(label):
    """What a real run draws at random."""
    return tsp1.sha256(b"touchstone example " + label.encode())


def hexes(values):
    return " ".join("%08x" % value for value in values)


def block(*lines):
    return "\n".join("    " + line for line in lines) + "\n"


def named(*pairs):
    width = max(len(name) for name, _ in pairs)
    return block(*("%-*s = %s" % (width, name, value.hex() if isinstance(value, bytes) else value)
                   for name, value in pairs))


def joined(tag, *pieces):
    """The bytes that are hashed or signed, one field a line."""
    return block(*['%-10s "%s"' % ("tag", tag)] +
                 ["%-10s %s" % (name, value.hex()) for name, value in pieces])


def challenge():
    part = {"kind": "rounds", "precision": "int8", "m": SIZE, "n": SIZE, "k": DEPTH, "rounds": ROUNDS, "openings": 1,
            "mask": 1, "limitMs": 60_000, "openLimitMs": 30_000, "kept": [0], "nonceHash": tsp1.nonce_hash(fixed("nonce"))}
    return {"version": 2, "runId": fixed("run")[:16], "validatorKey": ed25519.public_key(fixed("validator")),
            "proverKey": ed25519.public_key(fixed("prover")), "devices": 1, "parts": [part]}


FIELDS = [("version", 1, "2"), ("run id", 16, "16 random bytes"), ("validator key", 32, "Ed25519"),
          ("prover key", 32, "Ed25519"), ("D", 4, "1 device"), ("parts", 4, "1 part"), ("kind", 1, "0: rounds"),
          ("precision", 1, "0: int8"), ("m", 4, "64"), ("n", 4, "64"), ("k", 4, "32"), ("T", 4, "2 rounds"),
          ("openings", 4, "1 per device"), ("mask", 4, "device 0"), ("limit", 4, "60,000 ms"),
          ("limit for the openings", 4, "30,000 ms"), ("G_0", 4, "0: not a memory part"), ("nonce hash", 32, "")]


def challenge_table(canonical):
    rows, at = ["| byte | field | bytes | value |", "|---|---|---|---|"], 0
    for name, size, meaning in FIELDS:
        rows.append("| %d | %s | `%s` | %s |" % (at, name, canonical[at:at + size].hex(), meaning))
        at += size
    assert at == len(canonical)
    return "\n".join(rows) + "\n"


def one_round(seed):
    values = [tsp1.tile_values(seed, "int8", SIZE, DEPTH, tile) for tile in range(TILES)]
    prints = [tsp1.fingerprint(seed, tile) for tile in values]
    levels = tsp1.tree_levels([tsp1.leaf(tile, *pair) for tile, pair in enumerate(prints)])
    return values, prints, levels


def asked(c, canonical, x):
    return [
        "## 1. The challenge (§4.1)\n",
        "What a run draws at random is fixed here, so that anyone can make these bytes again: "
        "SHA-256 of \"touchstone example \" and one of the words run (its first 16 bytes), validator, prover, nonce, S_0.\n",
        named(("run id (16 bytes)", c["runId"]), ("validator's secret", fixed("validator")),
              ("prover's secret", fixed("prover")), ("nonce_0", fixed("nonce"))),
        "The nonce stays secret until the roots are in; the challenge holds its hash:\n",
        named(('SHA-256("tsp1/nonce" || nonce_0)', c["parts"][0]["nonceHash"])),
        "The canonical bytes, %d in all:\n" % len(canonical), challenge_table(canonical),
        "Their hash names the run:\n", named(('X = SHA-256("tsp1/challenge" || canonical bytes)', x)),
        "The prover signs \"tsp1/ready\" || X:\n",
        named(("ready", ed25519.sign(fixed("prover"), b"tsp1/ready" + x))),
    ]


def started(x, s, seed):
    return [
        "## 2. The first seed (§4.2)\n",
        "The validator sends S_0, and its clock starts.\n", named(("S_0", s)),
        "Device 0 of part 0 starts from the hash of\n",
        joined("tsp1/seed", ("X", x), ("S_0", s), ("u32 part", tsp1.u32(0)), ("u32 device", tsp1.u32(0))),
        named(("seed of round 0", seed)),
        "As eight little-endian words w0 to w7:\n", block(hexes(tsp1.words_of(seed))),
    ]


def entries_text(seed):
    w, words = tsp1.words_of(seed), tsp1.block_words(seed, 0, 0)
    lanes = [lane for o in words for lane in (o & 0xFFFF, o >> 16)]
    a, b = (tsp1.entries(seed, matrix, "int8", 0, DEPTH) for matrix in (0, 1))
    return [
        "## 3. The first entries (§3)\n",
        "Block 0 of matrix A:\n",
        named(("key", hexes(w[:2])), ("counter", hexes((0, 0, 0, w[2]))), ("output", hexes(words)),
              ("lanes", " ".join(map(str, lanes)))),
        "The precision is int8, so M = 127. The first entry comes from lane 0:\n",
        block("floor(%d * 255 / 65536) - 127 = %d" % (lanes[0], a[0])),
        "Row 0 of A, 32 entries:\n", block(" ".join(map(str, a[:16])), " ".join(map(str, a[16:]))),
        "Row 0 of B, which is stored transposed:\n",
        block(" ".join(map(str, b[:16])), " ".join(map(str, b[16:]))),
        "Entry (0, 0) of C is their dot product:\n",
        block("C[0][0] = %d" % sum(map(int.__mul__, a, b))),
    ]


def committed(seed, values, prints, levels, after):
    salt = tsp1.words_of(seed)[3]
    v, mask = values[0][0], tsp1.masks(salt, 1)[0]
    x = tsp1.mix32(v ^ mask)
    pairs = [row for tile, (f0, f1) in enumerate(prints)
             for row in (("tile %d: f0" % tile, tsp1.u64(f0)), ("tile %d: f1" % tile, tsp1.u64(f1)))]
    leaves, nodes, root = levels[0], levels[1], levels[2][0]
    return [
        "## 4. The commitment (§5)\n",
        "C has 64 x 64 entries, so 4 tiles. Tile 0 holds rows 0 to 31 and columns 0 to 31; its first eight elements v as u32:\n",
        block(hexes(values[0][:8])),
        "Element (0, 0):\n",
        named(("salt = w3", "%08x" % salt), ("mask(0, 0)", "%08x" % mask), ("v XOR mask(0, 0)", "%08x" % (v ^ mask)),
              ("x", "%08x" % x)),
        "The sums over all 1024 elements of each tile, as eight little-endian bytes:\n", named(*pairs),
        "The leaf of tile 0 is the SHA-256 of these 25 bytes:\n",
        named(("0x00 || u64 tile || f0 || f1", b"\0" + tsp1.u64(0) + tsp1.u64(prints[0][0]) + tsp1.u64(prints[0][1]))),
        named(*[("leaf %d" % tile, leaf) for tile, leaf in enumerate(leaves)]),
        "The tree above them:\n",
        named(("node 0 = SHA-256(0x01 || leaf 0 || leaf 1)", nodes[0]),
              ("node 1 = SHA-256(0x01 || leaf 2 || leaf 3)", nodes[1]),
              ("R_0 = SHA-256(0x01 || node 0 || node 1)", root)),
        "The prover sends R_0. Round 1 starts from the next seed (§4.2):\n",
        named(('SHA-256("tsp1/next" || seed || R_0)', after[0]), ("R_1, made likewise", after[1])),
        "R_1 is the last root: the validator's clock stops when it has been read.\n",
    ]


def opened(x, s, roots, seeds, rounds):
    nonce = fixed("nonce")
    q = tsp1.query(x, s, nonce, roots)
    h = tsp1.sha256(b"tsp1/draw", q, tsp1.u32(0), tsp1.u32(0))
    turn, tile = tsp1.draw(q, 0, 0, ROUNDS, TILES)
    high, low = (int.from_bytes(h[at:at + 8], "little") for at in (0, 8))
    levels = rounds[turn][2]
    path = tsp1.tree_path(levels, tile)
    inner = tsp1.root_of_path(levels[0][tile], tile, path[:1])
    assert tsp1.root_of_path(levels[0][tile], tile, path) == roots[turn]
    result = b"tsp1/result" + x + q
    return [
        "## 5. The draw (§4.4)\n", "The validator reveals nonce_0. Now both sides know q, the hash of\n",
        joined("tsp1/query", ("X", x), ("S_0", s), ("nonce_0", nonce), ("R_0", roots[0]), ("R_1", roots[1])),
        named(("q", q)),
        "Opening 0 of device 0:\n",
        named(('h = SHA-256("tsp1/draw" || q || u32 0 || u32 0)', h)),
        block("round = floor(%d * 2 / 2^64) = %d" % (high, turn), "tile  = %d mod 4 = %d" % (low, tile)),
        "## 6. The opening (§6)\n",
        "The prover answers with the siblings of tile %d in round %d, 64 bytes in all:\n" % (tile, turn),
        named(("sibling 0", path[0]), ("sibling 1", path[1])),
        "The validator knows the seed of round %d from the roots. It computes tile %d and its leaf itself:\n" % (turn, tile),
        named(("seed", seeds[turn]), ("f0", tsp1.u64(rounds[turn][1][tile][0])), ("f1", tsp1.u64(rounds[turn][1][tile][1])),
              ("leaf", levels[0][tile])),
        "Then it walks up. Bit i of %d says whether it stands on the right at step i:\n" % tile,
        named(*[("step %d: bit %d, SHA-256(0x01 || %s)" % (
            step, tile >> step & 1, "sibling || own" if tile >> step & 1 else "own || sibling"), found)
            for step, found in enumerate((inner, roots[turn]))]),
        "That is R_%d as it was committed: the opening holds.\n" % turn,
        "## 7. The result (§10)\n", "Prover and validator both sign \"tsp1/result\" || X || q:\n",
        named(("prover", ed25519.sign(fixed("prover"), result)), ("validator", ed25519.sign(fixed("validator"), result))),
    ]


def document():
    c = challenge()
    canonical = tsp1.challenge_bytes(c)
    x, s = tsp1.challenge_hash(canonical), fixed("S_0")
    seeds = [tsp1.first_seed(x, s, 0, 0)]
    rounds = [one_round(seeds[0])]
    seeds.append(tsp1.next_seed(seeds[0], rounds[0][2][-1][0]))
    rounds.append(one_round(seeds[1]))
    roots = [levels[-1][0] for _, _, levels in rounds]
    head = ["# One tiny run, byte by byte\n",
            "One device, one part: two rounds of int8 with m = n = 64 and k = 32, and one opening. "
            "Section numbers are those of [proof-of-gpu.md](proof-of-gpu.md).\n",
            "This page is made by `python3 test/independent/worked_example.py`, which is written from the specification alone. "
            "`npm test` makes it again and also compares it with the program (`test/independent/workedExample.test.ts`).\n",
            "Bytes are hex in the order in which they are sent or hashed. "
            "Groups of eight hex digits with spaces between them are u32 numbers, most significant digit first.\n"]
    return "\n".join(head + asked(c, canonical, x) + started(x, s, seeds[0]) + entries_text(seeds[0])
                     + committed(seeds[0], *rounds[0], (seeds[1], roots[1])) + opened(x, s, roots, seeds, rounds)
                     ).rstrip("\n") + "\n"


def main():
    made = document()
    if "--check" not in sys.argv[1:]:
        with open(TARGET, "w", encoding="utf-8", newline="\n") as file:
            file.write(made)
        return 0
    with open(TARGET, encoding="utf-8", newline="\n") as file:
        if file.read() == made:
            return 0
    print("docs/spec/worked-example.md differs: run python3 test/independent/worked_example.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
