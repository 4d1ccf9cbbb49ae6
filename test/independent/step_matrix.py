"""W12.1 of docs/spec/work.md: tensors of a transition in one matrix, its code by its polynomials, and its opening."""
import hashlib
import struct

from committed import beside, levels, pieces
from sumcheck import coordinates, tagged

P = 15 * 2**27 + 1
ZERO, ONE = (0, 0, 0, 0), (1, 0, 0, 0)
COLUMNS, SIZES = 665, {"i8": 1, "i32": 4}


def add(a, b):
    return tuple((x + y) % P for x, y in zip(a, b))


def multiply(a, b):
    out = [0] * 7
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] += x * y
    return tuple((out[i] + (11 * out[i + 4] if i < 3 else 0)) % P for i in range(4))


def spell(numbers):
    return b"".join(struct.pack("<4I", *number) for number in numbers)


def absorb(state, *said):
    return tagged("tsw1/absorb", state, *said)


def draw(state, index):
    found = tagged("tsw1/point", state, struct.pack("<I", index))
    return tuple(value % P for value in struct.unpack("<4Q", found))


def places(state, count, below):
    drawn = [tagged("tsw1/place", state, struct.pack("<I", i)) for i in range(count)]
    return sorted({struct.unpack("<Q", found[:8])[0] % below for found in drawn})


def weight(point, index):
    product = ONE
    for bit, at in enumerate(point):
        product = multiply(product, at if index >> bit & 1 else add(ONE, tuple(-x for x in at)))
    return product


def turned(index, bits):
    return int(format(index, "0%db" % bits)[::-1], 2)


class Code:
    """The further values of rows of 2^low numbers, by the sum over the roots of unity that interpolates them."""

    def __init__(self, low):
        k = 2**low
        root, further_root = pow(31, (P - 1) // k, P), pow(31, (P - 1) // (k // 4), P)
        own = [pow(root, turned(i, low), P) for i in range(k)]
        self.shares = []
        for j in range(k // 4):
            x = 31 * pow(further_root, turned(j, low - 2), P) % P
            front = (pow(x, k, P) - 1) * pow(k, P - 2, P)
            self.shares.append([front * h * pow(x - h, P - 2, P) % P for h in own])

    def further(self, row):
        return [sum(x * share for x, share in zip(row, shares)) % P for shares in self.shares]


def low_of(tensors):
    entries = sum(t["rows"] * 2 ** coordinates(t["width"]) for t in tensors)
    low = 8
    while low < 14 and 4**low < 8 * entries:
        low += 1
    return max([low] + [coordinates(t["width"]) for t in tensors])


class Matrix:
    def __init__(self, tensors):
        self.tensors, self.low = tensors, low_of(tensors)
        self.k, self.rows = 2**self.low, {"i8": [], "i32": []}
        self.first = {}
        for t in tensors:
            wide = 2 ** coordinates(t["width"])
            flat = [x for row in t["values"] for x in row + [0] * (wide - t["width"])]
            flat += [0] * (-len(flat) % self.k)
            own = self.rows[t["type"]]
            self.first[t["name"]] = len(own)
            own += [flat[at:at + self.k] for at in range(0, len(flat), self.k)]
        code = Code(self.low)
        self.columns = []
        for kind, letter in (("i8", "b"), ("i32", "i")):
            rows = self.rows[kind]
            further = [code.further(row) for row in rows]
            own = [struct.pack("<%d%s" % (len(rows), letter), *(row[j] for row in rows)) for j in range(self.k)]
            more = [struct.pack("<%dI" % len(rows), *(row[j] for row in further)) for j in range(self.k // 4)]
            self.columns.append(own + more)
        begin = b"tsw1/column".ljust(64, b"\0")
        leaves = [hashlib.sha256(begin + part).digest() for pair in zip(*self.columns) for part in pair]
        self.tree = tree(leaves)
        self.root = self.tree[-1][0]

    def statement(self):
        spelled = struct.pack("<I", len(self.tensors))
        for t in self.tensors:
            name = t["name"].encode()
            spelled += struct.pack("<4I", len(name), SIZES[t["type"]], t["rows"], t["width"]) + name
        return spelled

    def code_rows(self, t):
        count = -(-t["rows"] * 2 ** coordinates(t["width"]) // self.k)
        first = self.first[t["name"]]
        return self.rows[t["type"]][first:first + count]

    def open(self, state, claims, reveals):
        state = absorb(state, spell([claim["value"] for claim in claims]))
        rho, classes = draw(state, 0), {}
        for claim in claims:
            t = claim["tensor"]
            per = self.low - coordinates(t["width"])
            along = tuple((claim["column"] + claim["row"][:per] + [ZERO] * self.low)[:self.low])
            total, power = classes.get((t["width"], along), ([ZERO] * self.k, ONE))
            classes[t["width"], along] = total, multiply(power, rho)
            for i, row in enumerate(self.code_rows(t)):
                by = multiply(power, weight(claim["row"][per:], i))
                for j, x in enumerate(row):
                    if x:
                        total[j] = add(total[j], tuple(x * c % P for c in by))
        said = b""
        for (width, _), (total, _) in classes.items():
            said += spell([x for j, x in enumerate(total) if j % 2 ** coordinates(width) < width])
        state = absorb(state, root_of(said))
        shown = b"".join(self.shown(t, [r for r in reveals if r["name"] == t["name"]]) for t in self.tensors)
        state = absorb(state, root_of(shown))
        columns = places(state, COLUMNS, 5 * self.k // 4)
        own, more = [c for c in columns if c < self.k], [c for c in columns if c >= self.k]
        parts = b"".join(part[c] for which in (own, more) for part in self.columns for c in which)
        return said + shown + parts + beside(self.tree, [2 * c + i for c in columns for i in (0, 1)])

    def shown(self, t, reveals):
        per = 2 ** (self.low - coordinates(t["width"]))
        wanted = {t["rows"] // per} if t["rows"] % per else set()
        for r in reveals:
            wanted |= {at // per for at in range(r["row"], r["row"] + r["rows"])}
        letter = "b" if t["type"] == "i8" else "i"
        return b"".join(struct.pack("<%d%s" % (t["width"], letter), *row)
                        for at in sorted(wanted) for row in t["values"][at * per:(at + 1) * per])


def root_of(data):
    return levels(pieces(data))[-1][0] if data else b""


def tree(leaves):
    level = leaves + [bytes(32)] * (2 ** coordinates(len(leaves)) - len(leaves))
    found = [level]
    while len(level) > 1:
        level = [hashlib.sha256(b"\1" + p + q).digest() for p, q in zip(level[::2], level[1::2])]
        found.append(level)
    return found


def value_at(t, row, column):
    by_row = [weight(row, i) for i in range(t["rows"])]
    by_column = [weight(column, j) for j in range(t["width"])]
    total = ZERO
    for w, line in zip(by_row, t["values"]):
        inner = ZERO
        for v, x in zip(by_column, line):
            inner = add(inner, tuple(x * c % P for c in v))
        total = add(total, multiply(w, inner))
    return total


CASES = [
    ([("a", "i8", 3, 5), ("c", "i32", 2, 4)], [("a", 1, 1)]),
    ([("a", "i8", 70, 24), ("c", "i32", 33, 16), ("b", "i8", 16, 32), ("only", "i8", 1, 1)], [("a", 3, 20), ("c", 0, 1)]),
    ([("results", "i32", 90, 60)], []),
]


def chance(seed, count, kind):
    data = b"".join(hashlib.sha256(seed + struct.pack("<I", i)).digest() for i in range(-(-count * SIZES[kind] // 32)))
    return struct.unpack("<%d%s" % (count, "b" if kind == "i8" else "i"), data[:count * SIZES[kind]])


def cases(seed_of):
    found = []
    for number, (shapes, reveals) in enumerate(CASES):
        tensors = []
        for name, kind, rows, width in shapes:
            values = chance(seed_of("step %d %s" % (number, name)), rows * width, kind)
            lines = [list(values[i * width:(i + 1) * width]) for i in range(rows)]
            tensors.append({"name": name, "type": kind, "rows": rows, "width": width, "values": lines})
        matrix = Matrix(tensors)
        start = tagged("tsw1/step", matrix.statement(), matrix.root)
        points = [draw(start, i) for i in range(12)]
        claims = []
        for i, t in enumerate(tensors + tensors[:1]):
            row = points[i % 2:][:coordinates(t["rows"])]
            column = points[4 - i // 4:][:coordinates(t["width"])]
            claims.append({"tensor": t, "row": row, "column": column, "value": value_at(t, row, column)})
        proof = matrix.open(start, claims, [{"name": n, "row": r, "rows": c} for n, r, c in reveals])
        found.append({
            "tensors": [{k: t[k] for k in ("name", "type", "rows", "width")} for t in tensors],
            "seeds": [seed_of("step %d %s" % (number, t["name"])).hex() for t in tensors],
            "low": matrix.low, "root": matrix.root.hex(),
            "claims": [{"name": c["tensor"]["name"], "row": c["row"], "column": c["column"], "value": c["value"]} for c in claims],
            "reveals": [{"name": n, "row": r, "rows": c} for n, r, c in reveals],
            "proofBytes": len(proof), "proofSha256": hashlib.sha256(proof).hexdigest()})
    return found
