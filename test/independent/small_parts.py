"""Whole small parts, computed as a prover would: what the vectors chain.json, bind.json, memory.json and link.json hold."""
import functools

import ed25519
import tsp1

SIZE = 64  # m = n = k of every example


def example_challenge(label, seed):
    """A challenge with every kind of part; "two devices" has masks and fills that differ."""
    devices = {"one device": 1, "two devices": 2, "tiny": 1}[label]
    shapes = [("rounds", name) for name in tsp1.PRECISIONS] + [("memory", "int8"), ("bind", "int8")]
    if devices > 1:
        shapes.append(("link", "int8"))
    parts = [_example_part(label, devices, index, *shape) for index, shape in enumerate(shapes)]
    for index, part in enumerate(parts):
        part["nonceHash"] = tsp1.nonce_hash(seed("%s nonce %d" % (label, index)))
    return {"version": 1, "runId": seed("run " + label)[:16],
            "validatorKey": ed25519.public_key(seed("validator")), "proverKey": ed25519.public_key(seed("prover")),
            "devices": devices, "parts": parts}


def _example_part(label, devices, index, kind, precision):
    big, together, passing = label != "tiny", 2**devices - 1, kind in ("memory", "link")
    side = 1024 if passing else 1024 << min(index, 5)
    deep = 2048 if kind == "bind" else 8192 if precision == "fp32" else 32768
    return {
        "kind": kind, "precision": precision,
        "m": side if big else SIZE, "n": side if big else SIZE, "k": deep if big else SIZE,
        "rounds": 3 if passing else 1000 + index if big else 4, "openings": 128 if big else 8,
        "mask": together if passing or index % 2 == 0 else 1, "limitMs": 60_000 + index, "openLimitMs": 30_000 + index,
        "kept": [2 + d if kind == "memory" else 0 for d in range(devices)],
    }


def signature_cases(secret):
    """Signatures that two verifiers may judge differently: (name, public, message, signature)."""
    message, public = b"one message", ed25519.public_key(secret)
    good = ed25519.sign(secret, message)
    s = int.from_bytes(good[32:], "little")
    order_two = (ed25519.P - 1).to_bytes(32, "little")
    neutral, wide_neutral = (1).to_bytes(32, "little"), (ed25519.P + 1).to_bytes(32, "little")
    return [("good", public, message, good), ("another message", public, b"another message", good),
            ("S + L", public, message, good[:32] + (s + ed25519.L).to_bytes(32, "little")),
            ("R changed", public, message, bytes([good[0] ^ 1]) + good[1:]),
            ("S changed", public, message, good[:32] + (s ^ 1).to_bytes(32, "little")),
            ("key of order 1", neutral, message, neutral + bytes(32)),
            ("key of order 2", order_two, message, neutral + bytes(32)),
            ("R with y >= p", public, message, wide_neutral + good[32:]),
            ("key with y >= p", wide_neutral, message, neutral + bytes(32)),
            ("R shifted by a point of order 2: valid under the equation with the cofactor", public, message,
             _shifted(secret, message))]


def _shifted(secret, message):
    """R' = R + T with T of order 2, S made for R': only the equation with the cofactor holds."""
    scalar, prefix = ed25519._expand(secret)
    public = ed25519.public_key(secret)
    r = ed25519._hash_number(prefix, message) % ed25519.L
    shifted = ed25519._encode(ed25519._add(ed25519._multiply_base(r), (0, ed25519.P - 1, 1, 0)))
    h = ed25519._hash_number(shifted, public, message) % ed25519.L
    return shifted + ((r + h * scalar) % ed25519.L).to_bytes(32, "little")


def opening_list(q, device, count, rounds, tiles):
    return [dict(zip(("round", "tile"), tsp1.draw(q, device, i, rounds, tiles))) for i in range(count)]


def _root(pairs, first_tile=0):
    return tsp1.tree_levels([tsp1.leaf(first_tile + i, *pair) for i, pair in enumerate(pairs)])[-1][0]


def _all_tiles(seed, precision):
    return [tsp1.tile_values(seed, precision, SIZE, SIZE, tile) for tile in range(tsp1.tile_count(SIZE, SIZE))]


def _text(pairs):
    return [{"f0": str(f0), "f1": str(f1)} for f0, f1 in pairs]


def run_series(first, precision, rounds, fingerprint_round):
    """(seeds, fingerprints, roots, tiles) of a series of rounds."""
    seeds, prints, roots, contents = [first], [], [], []
    for _ in range(rounds):
        values = _all_tiles(seeds[-1], precision)
        prints.append(fingerprint_round(seeds[-1], values))
        roots.append(_root(prints[-1]))
        contents.append(values)
        seeds.append(tsp1.next_seed(seeds[-1], roots[-1]))
    return seeds[:-1], prints, roots, contents


def plain_round(seed, values):
    return [tsp1.fingerprint(seed, tile) for tile in values]


def bind_round(seed, values):
    partners = [tsp1.bind_partner(seed, tile, len(values)) for tile in range(len(values))]
    return [tsp1.bind_fingerprint(seed, tile, values[partner]) for tile, partner in zip(values, partners)]


def _series_case(seed, part, precision, fingerprint_round):
    x, s, nonce = seed("chain x"), seed("chain s %d" % part), seed("chain nonce %d" % part)
    seeds, prints, roots, _ = run_series(tsp1.first_seed(x, s, part, 0), precision, 4, fingerprint_round)
    q = tsp1.query(x, s, nonce, roots)
    return {"precision": precision, "m": SIZE, "n": SIZE, "k": SIZE, "x": x, "s": s, "nonce": nonce, "part": part,
            "device": 0, "seeds": seeds, "fingerprints": [_text(pairs) for pairs in prints], "roots": roots, "q": q,
            "openings": opening_list(q, 0, 8, 4, tsp1.tile_count(SIZE, SIZE))}


def round_series(seed):
    return [_series_case(seed, part, precision, plain_round) for part, precision in enumerate(tsp1.PRECISIONS)]


def bind_series(seed):
    case = _series_case(seed, 9, "int8", bind_round)
    tiles = tsp1.tile_count(SIZE, SIZE)
    case["partners"] = [[tsp1.bind_partner(s, tile, tiles) for tile in range(tiles)] for s in case["seeds"]]
    wide = [{"seed": case["seeds"][0], "tiles": count, "tile": tile, "partner": tsp1.bind_partner(case["seeds"][0], tile, count)}
            for count, tile in ((2**20, 0), (2**20, 2**20 - 1), (1024, 77))]
    return {"chain": case, "widePartners": wide}


def fill(seed, x, s, part, device, kept):
    """One device's fill: roots R and the kept words of every tile, in the order of u."""
    seeds, _, roots, contents = run_series(tsp1.first_seed(x, s, part, device), "int8", kept, plain_round)
    return seeds, roots, [tsp1.kept_words(tile) for values in contents for tile in values]


def passes(z0, own, other, count):
    """(Z_j, partners, fingerprints, Q_j) of each pass of one device over its own fill and its partner's."""
    tiles, z, found = tsp1.tile_count(SIZE, SIZE), z0, []
    for j in range(count):
        partners = [tsp1.memory_partner(z, u, len(other)) for u in range(len(own))]
        prints = [tsp1.memory_fingerprint(z, own[u], other[partner]) for u, partner in enumerate(partners)]
        roots = [_root(prints[start:start + tiles], start) for start in range(0, len(own), tiles)]
        q = tsp1.pass_root(j, roots)
        found.append({"z": z, "partners": partners, "fingerprints": _text(prints), "roundRoots": roots, "q": q})
        z = tsp1.next_pass(z, q)
    return found


@functools.lru_cache(maxsize=1)
def _memory_run(seed):
    """Two devices with fills of 2 and 3 rounds: the second needs a padded tree."""
    x, s, part = seed("memory x"), seed("memory s"), 5
    return x, s, part, [fill(seed, x, s, part, device, kept) for device, kept in ((0, 2), (1, 3))]


def memory_part(seed):
    x, s, part, fills = _memory_run(seed)
    z0, nonce, devices, committed = seed("memory z0"), seed("memory nonce"), [], []
    for device, (seeds, roots, words) in enumerate(fills):
        done = passes(z0, words, words, 3)
        committed += roots + [step["q"] for step in done]
        devices.append({"device": device, "kept": len(roots), "seeds": seeds, "fillRoots": roots, "passes": done,
                        "firstTileWords": b"".join(map(tsp1.u32, words[0]))})
    q = tsp1.query(x, s, nonce, committed, z0)
    for device in devices:
        device["openings"] = opening_list(q, device["device"], 8, 3, 4 * device["kept"])
    wide = [{"z": z0, "tiles": count, "u": u, "partner": tsp1.memory_partner(z0, u, count)}
            for count, u in ((69_206_016, 0), (69_206_016, 69_206_015), (2**32 - 4, 2**32 - 5), (12, 5))]
    return {"m": SIZE, "n": SIZE, "k": SIZE, "x": x, "s": s, "z0": z0, "nonce": nonce, "part": part, "q": q,
            "devices": devices, "widePartners": wide}


def link_part(seed):
    """The link part after memory_part: Z_0 = S_p, partners in the fill of device (d - 1) mod D."""
    x, _, _, fills = _memory_run(seed)
    s, nonce, devices, committed = seed("link s"), seed("link nonce"), [], []
    for device, (_, _, words) in enumerate(fills):
        done = passes(s, words, fills[(device - 1) % len(fills)][2], 3)
        committed += [step["q"] for step in done]
        devices.append({"device": device, "partnerDevice": (device - 1) % len(fills), "passes": done})
    q = tsp1.query(x, s, nonce, committed)
    for device, (_, roots, _) in zip(devices, fills):
        device["openings"] = opening_list(q, device["device"], 8, 3, 4 * len(roots))
    return {"x": x, "s": s, "nonce": nonce, "memory": "memory.json", "q": q, "devices": devices}
