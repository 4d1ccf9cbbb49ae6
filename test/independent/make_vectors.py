#!/usr/bin/env python3
"""Writes test/vectors/*.json from this folder's own implementation. No clock, no chance: the bytes never change.

make_vectors.py            writes the files
make_vectors.py --check    compares them with what lies there; exit 1 and the names where they differ
"""
import hashlib
import json
import os
import sys

import chain_vectors
import committed
import draws
import ed25519
import float32
import inference
import private_product
import ledger
import small_parts
import step_matrix
import step_products
import sumcheck
import traces
import tsp1
import work_vectors

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vectors")


def seed(label):
    """32 bytes that look random: SHA-256 of "touchstone vector " and the label."""
    return hashlib.sha256(b"touchstone vector " + label.encode()).digest()


def hex32(value):
    return "%08x" % value


def packed(values):
    """u32 values as little-endian hex, one after the other."""
    return b"".join(map(tsp1.u32, values)).hex()


def sums(pair):
    return {"f0": str(pair[0]), "f1": str(pair[1])}


def philox():
    full = 0xFFFFFFFF
    inputs = [((0, 0, 0, 0), (0, 0)), ((full,) * 4, (full,) * 2), ((1, 0, 0, 0), (0, 0)), ((0, 1, 0, 0), (0, 0)),
              ((0, 0, 1, 0), (0, 0)), ((0, 0, 0, 1), (0, 0)), ((0, 0, 0, 0), (1, 0)), ((0, 0, 0, 0), (0, 1)),
              ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0))]
    words = tsp1.words_of(seed("philox")) + tsp1.words_of(seed("philox 2"))
    inputs += [(words[i:i + 4], words[i + 4:i + 6]) for i in range(0, 10, 3)]
    return [{"counter": list(map(hex32, c)), "key": list(map(hex32, k)),
             "output": list(map(hex32, tsp1.philox4x32(c, k)))} for c, k in inputs]


def entries():
    cases = []
    for precision in tsp1.PRECISIONS:
        for matrix in (0, 1):
            for first, count in ((0, 24), (13, 9), (2**30 - 3, 6), (2**36 - 4, 8)):
                s = seed("entries " + precision)
                found = tsp1.entries(s, matrix, precision, first, count)
                case = {"precision": precision, "seed": s.hex(), "matrix": matrix, "first": first, "values": found}
                if precision == "fp32":
                    case["bits"] = [hex32(float32.to_bits(value, -23)) for value in found]
                cases.append(case)
    return cases


def tiles():
    cases = []
    for precision in tsp1.PRECISIONS:
        for n, k, tile in ((64, 64, 0), (64, 64, 3), (128, 96, 6)):
            s = seed("tile %s %d" % (precision, k))
            values = tsp1.tile_values(s, precision, n, k, tile)
            cases.append({"precision": precision, "seed": s.hex(), "n": n, "k": k, "tile": tile,
                          "values": packed(values), **sums(tsp1.fingerprint(s, values)),
                          "leaf": tsp1.leaf(tile, *tsp1.fingerprint(s, values)).hex()})
    for precision, k in (("int8", 1024), ("fp16", 512), ("fp32", 512)):
        s = seed("deep tile " + precision)
        values = tsp1.tile_values(s, precision, 64, k, 1)
        cases.append({"precision": precision, "seed": s.hex(), "n": 64, "k": k, "tile": 1,
                      "valuesSha256": hashlib.sha256(bytes.fromhex(packed(values))).hexdigest(),
                      **sums(tsp1.fingerprint(s, values)), "leaf": tsp1.leaf(1, *tsp1.fingerprint(s, values)).hex()})
    return cases


def _entry(value):
    return float32.to_bits(value, -23)


def _domain_inputs():
    """Operands that the protocol can meet: entries, and sums that are multiples of 2^-46."""
    one = float32.to_bits(1, 0)
    up, down = (130561, 131585), (131071, 131073)  # products 2^34 + 1 and 2^34 - 1: 2^-12 +- 2^-46
    inputs = [("exact zero", _entry(0), _entry(-5), 0), ("cancels to +0", _entry(1 << 22), _entry(1 << 22), float32.to_bits(-1, -2))]
    for base in (4096 << 11, (4096 << 11) + 1, (8192 << 11) - 1):
        c = float32.to_bits(base, -11)
        inputs.append(("tie at %d * 2^-11" % base, _entry(1 << 17), _entry(1 << 17), c))
        for name, (a, b) in (("above", up), ("below", down)):
            inputs.append(("a hair %s a tie" % name, _entry(a), _entry(b), c))
            inputs.append(("a hair %s a tie, subtracted" % name, _entry(-a), _entry(b), c))
            inputs.append(("a hair %s a tie, negative" % name, _entry(-a), _entry(b), c | 1 << 31))
    inputs.append(("power of two loses a hair", _entry(-1), _entry(1), one))
    inputs.append(("power of two loses half a lower step", _entry(-(1 << 11)), _entry(1 << 10), one))
    inputs.append(("carry into the next power", _entry(1 << 22), _entry(1), float32.to_bits((1 << 24) - 1, -24)))
    inputs.append(("smallest product", _entry(1), _entry(1), 0))
    inputs.append(("largest product", _entry(-(1 << 23)), _entry(-(1 << 23)), float32.to_bits(8191, 0)))
    numbers = [w for i in range(24) for w in tsp1.words_of(seed("fma %d" % i))]
    for i in range(0, len(numbers), 3):
        a, b, c = numbers[i:i + 3]
        total = float32.to_bits((c >> 8) - (1 << 23), -46 + c % 37)
        inputs.append(("drawn", _entry((a >> 8) - (1 << 23)), _entry((b >> 8) - (1 << 23)), total))
    return inputs


def _finite_inputs():
    """Any finite operands: subnormal numbers, overflow, signs of zero."""
    minus = 1 << 31
    inputs = [("-0 * 1 + -0", minus, 0x3F800000, minus), ("-0 * 1 + 0", minus, 0x3F800000, 0),
              ("1 * 1 - 1", 0x3F800000, 0x3F800000, 0xBF800000), ("smallest squared", 1, 1, 0),
              ("smallest squared, negative", 1, minus | 1, 0), ("smallest squared breaks a tie", 1, 1, 0x00800000),
              ("half of the smallest", 1, 0x3F000000, 0), ("half of the smallest on an odd one", 1, 0x3F000000, 1),
              ("three quarters of the smallest", 1, 0x3F400000, 0), ("subnormal becomes normal", 0x007FFFFF, 0x3F800000, 1),
              ("largest squared", 0x7F7FFFFF, 0x7F7FFFFF, 0), ("largest plus half a step", 0x73000000, 0x3F800000, 0x7F7FFFFF),
              ("largest plus less", 0x72FFFFFF, 0x3F800000, 0x7F7FFFFF), ("overflow avoided", 0x7F7FFFFF, 0x40000000, 0xFF7FFFFF)]
    numbers = [w for i in range(18) for w in tsp1.words_of(seed("finite %d" % i))]
    for i in range(0, len(numbers), 3):
        a, b, c = numbers[i:i + 3]
        middle = (b & 0x807FFFFF) | (112 + (b >> 23 & 31)) << 23
        near = (a >> 23 & 0xFF) + (c >> 23 & 63) - 40
        operands = (a & ~0x800000, middle, (c & 0x807FFFFF) | max(0, min(254, near)) << 23)
        if all((x >> 23 & 0xFF) != 0xFF for x in operands):
            inputs.append(("drawn",) + operands)
    return inputs


def fma():
    def cases(inputs):
        return [{"name": name, "a": hex32(a), "b": hex32(b), "c": hex32(c), "result": hex32(float32.fma(a, b, c))}
                for name, a, b, c in inputs]

    return {"domain": cases(_domain_inputs()), "finite": cases(_finite_inputs())}


def fingerprints():
    mixes = [0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xDEADBEEF] + list(tsp1.words_of(seed("mix32")))
    cases = []
    for name, rule in (("zeros", lambda i: 0), ("ones", lambda i: 1), ("minus one", lambda i: 0xFFFFFFFF),
                       ("index", lambda i: i), ("squares", lambda i: i * i * 4099 & 0xFFFFFFFF)):
        for salt in (0, 1, 0xFFFFFFFF, 0x9ABCDEF0):
            s = bytes(12) + tsp1.u32(salt) + bytes(16)
            cases.append({"values": name, "salt": hex32(salt), **sums(tsp1.fingerprint(s, list(map(rule, range(1024)))))})
    return {"mix32": [[hex32(x), hex32(tsp1.mix32(x))] for x in mixes], "tiles": cases}


def merkle():
    leaves = [{"tile": str(tile), **sums(pair), "leaf": tsp1.leaf(tile, *pair).hex()}
              for tile, pair in ((0, (0, 0)), (1, (2, 3)), (2**32 - 1, (2**64 - 1, 2**63)), (2**33 + 5, (2**42, 2**64 - 2)))]
    trees = []
    for count in (1, 2, 4, 16):
        level = [tsp1.leaf(i, i * i, 7 * i + 1) for i in range(count)]
        levels = tsp1.tree_levels(level)
        paths = [[step.hex() for step in tsp1.tree_path(levels, i)] for i in range(count)]
        trees.append({"leaves": [x.hex() for x in level], "root": levels[-1][0].hex(), "paths": paths})
    passes = []
    for j, count in ((0, 1), (1, 2), (2, 3), (7, 5), (255, 8)):
        roots = [seed("kept root %d" % i) for i in range(count)]
        passes.append({"pass": j, "roots": [x.hex() for x in roots], "q": tsp1.pass_root(j, roots).hex()})
    return {"leaves": leaves, "trees": trees, "passRoots": passes}


def challenge():
    cases = []
    for label in ("one device", "two devices", "tiny"):
        given = small_parts.example_challenge(label, seed)
        canonical = tsp1.challenge_bytes(given)
        cases.append({"name": label, "challenge": _plain(given), "canonical": canonical.hex(),
                      "x": tsp1.challenge_hash(canonical).hex()})
    nonces = [{"nonce": seed("nonce %d" % i).hex(), "hash": tsp1.nonce_hash(seed("nonce %d" % i)).hex()} for i in range(3)]
    return {"challenges": cases, "nonces": nonces}


def _plain(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def seeds():
    x, s, root = seed("x"), seed("s"), seed("root")
    first = [{"x": x.hex(), "s": s.hex(), "part": part, "device": device, "seed": tsp1.first_seed(x, s, part, device).hex()}
             for part, device in ((0, 0), (0, 1), (1, 0), (7, 31), (255, 3))]
    following = [{"seed": x.hex(), "root": root.hex(), "next": tsp1.next_seed(x, root).hex()},
                 {"seed": root.hex(), "root": x.hex(), "next": tsp1.next_seed(root, x).hex()}]
    return {"first": first, "next": following}


def query():
    x, s, nonce, z0 = seed("x"), seed("s"), seed("nonce"), seed("z0")
    queries = []
    for count, with_z0 in ((1, False), (4, False), (8, True)):
        roots = [seed("root %d" % i) for i in range(count)]
        q = tsp1.query(x, s, nonce, roots, z0 if with_z0 else b"")
        case = {"x": x.hex(), "s": s.hex(), "nonce": nonce.hex(), "roots": [r.hex() for r in roots], "q": q.hex()}
        queries.append({**case, "z0": z0.hex()} if with_z0 else case)
    draws = []
    for rounds, count in ((4, 4), (1, 1024), (1000, 2**20), (3, 2 * 4), (60, 69_206_016), (2**32 - 1, 2**32 - 5)):
        for device, opening in ((0, 0), (0, 127), (31, 1)):
            at_round, tile = tsp1.draw(x, device, opening, rounds, count)
            draws.append({"q": x.hex(), "device": device, "opening": opening, "rounds": rounds, "tiles": count,
                          "round": at_round, "tile": tile})
    return {"queries": queries, "draws": draws}


def rfc8032():
    """The secret keys and messages of RFC 8032, section 7.1; keys and signatures are computed here."""
    given = [("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", b""),
             ("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", b"\x72"),
             ("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", b"\xaf\x82"),
             ("833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42", hashlib.sha512(b"abc").digest()),
             (seed("ed25519").hex(), b"tsp1/ready" + seed("x"))]
    signed = []
    for secret, message in given:
        key = bytes.fromhex(secret)
        signed.append({"secret": secret, "public": ed25519.public_key(key).hex(), "message": message.hex(),
                       "signature": ed25519.sign(key, message).hex()})
    return {"signed": signed, "judged": [_judged(*case) for case in small_parts.signature_cases(seed("ed25519"))]}


def _judged(name, public, message, signature):
    return {"name": name, "public": public.hex(), "message": message.hex(), "signature": signature.hex(),
            "valid": ed25519.verify(public, message, signature)}


FILES = {
    "philox": philox, "entries": entries, "tiles": tiles, "fma": fma, "fingerprints": fingerprints, "merkle": merkle,
    "challenge": challenge, "seeds": seeds, "query": query, "ed25519": rfc8032,
    "chain": lambda: _plain(small_parts.round_series(seed)), "bind": lambda: _plain(small_parts.bind_series(seed)),
    "memory": lambda: _plain(small_parts.memory_part(seed)), "link": lambda: _plain(small_parts.link_part(seed)),
    "lottery": lambda: chain_vectors.lottery_cases(seed), "accounting": lambda: chain_vectors.accounting_cases(seed),
    "vrf": lambda: chain_vectors.vrf_cases(seed), "torsion": lambda: chain_vectors.torsion_cases(seed),
    "inference": lambda: inference.cases(seed),
    "committed": lambda: committed.cases(seed),
    "privateProduct": lambda: private_product.cases(seed),
    "stepMatrix": lambda: step_matrix.cases(seed),
    "sumcheck": lambda: sumcheck.cases(seed),
    "stepProducts": lambda: step_products.cases(seed),
    "draws": lambda: draws.cases(seed),
    "trace": lambda: traces.cases(seed),
    "work": lambda: work_vectors.cases(seed), "ledger": lambda: ledger.cases(seed),
}


def main(arguments):
    different = []
    for name, make in FILES.items():
        path = os.path.join(FOLDER, name + ".json")
        data = (json.dumps(make(), indent=1) + "\n").encode()
        if arguments == ["--check"]:
            with open(path, "rb") as file:
                different += [] if file.read() == data else [name + ".json"]
        else:
            with open(path, "wb") as file:
                file.write(data)
    if different:
        print("differs: " + ", ".join(different))
    return 1 if different else 0


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
