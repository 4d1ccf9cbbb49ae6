"""Rounds of scores, written from docs/spec/ledger.md alone."""
import hashlib

import ed25519


def _be(value, size):
    return value.to_bytes(size, "big")


def leaf(validator, number, entry):
    box = entry["box"].encode("ascii")
    certificate = bytes.fromhex(entry["certificate"]) if entry["certificate"] else bytes(32)
    return hashlib.sha256(b"\x00touchstone/score/1" + validator + _be(number, 8) + _be(len(box), 1) + box
                          + _be(entry["score"], 8) + certificate).digest()


def levels(leaves):
    size = 1
    while size < len(leaves):
        size *= 2
    rows = [leaves + [bytes(32)] * (size - len(leaves))]
    while len(rows[-1]) > 1:
        row = rows[-1]
        rows.append([hashlib.sha256(b"\x01" + row[i] + row[i + 1]).digest() for i in range(0, len(row), 2)])
    return rows


def record(secret, number, closed_at, entries):
    validator = ed25519.public_key(secret)
    ordered = sorted(entries, key=lambda entry: entry["box"].encode("ascii"))
    rows = levels([leaf(validator, number, entry) for entry in ordered])
    root = rows[-1][0]
    message = hashlib.sha256(b"touchstone/round/1" + validator + _be(number, 8) + _be(closed_at, 8)
                             + _be(len(ordered), 4) + root).digest()
    sealed = {"validator": validator.hex(), "round": number, "closedAtMs": closed_at, "root": root.hex(),
              "signature": ed25519.sign(secret, message).hex()}
    whole = dict({"format": "touchstone-round-1"}, **sealed, entries=ordered)
    proofs = []
    for place, entry in enumerate(ordered):
        path = [rows[depth][(place >> depth) ^ 1].hex() for depth in range(len(rows) - 1)]
        proofs.append(dict({"format": "touchstone-score-1"}, **sealed, count=len(ordered), entry=entry, place=place, path=path))
    return whole, [node.hex() for node in rows[0][:len(ordered)]], proofs


def cases(seed):
    made = []
    for count, number, closed_at in ((1, 1, 0), (2, 2, 1), (3, 2**53 - 1, 2**53 - 1), (5, 77, 1700000000000), (16, 9, 12)):
        names = ["a", "B.%d" % count, "box-1", "box-10", "box-2", "Z_9"] + ["host%d" % i for i in range(10)]
        entries = [{"box": names[i], "score": [0, 1, 2**53 - 1, 98765][i % 4],
                    "certificate": None if i % 3 == 0 else seed("certificate %d" % i).hex()} for i in range(count)]
        entries[-1]["box"] = "x" * 64
        secret = seed("ledger %d" % count)
        whole, leaves, proofs = record(secret, number, closed_at, entries)
        made.append({"secret": secret.hex(), "record": whole, "leaves": leaves, "proofs": proofs})
    return made
