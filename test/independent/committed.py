"""W8.9 of docs/spec/work.md: the operands of a sumcheck opened in a code, every codeword by its polynomial."""
import hashlib
import struct

import sumcheck
from sumcheck import ONE, P, ZERO, add, coordinates, multiply, spell, tagged

COLUMNS, TIED_ROWS, LENGTHENED = 160, 16, 4
FIFTH = pow(5, P - 2, P)
ROOT = (3 * FIFTH % P, -4 * FIFTH % P)


def power(base, exponent):
    result = ONE
    while exponent:
        if exponent & 1:
            result = multiply(result, base)
        base, exponent = multiply(base, base), exponent >> 1
    return result


def layout(rows, width):
    """log2 of the entries of a row and of the rows: the first that is smallest."""
    everything = coordinates(rows) + coordinates(width)
    low = min(range(everything + 1), key=lambda bits: (2 * 2**bits + COLUMNS * 2 ** (everything - bits), bits))
    return low, everything - low


def code_rows(matrix):
    rows, width = len(matrix), len(matrix[0])
    wide = 2 ** coordinates(width)
    flat = [x for row in matrix for x in row + [0] * (wide - width)]
    flat += [0] * (2 ** coordinates(rows) * wide - len(flat))
    low, high = layout(rows, width)
    return [flat[i * 2**low : (i + 1) * 2**low] for i in range(2**high)]


def codeword(row):
    """Its values at the roots of unity; value i lies at the place of the bits of i turned."""
    length = LENGTHENED * len(row)
    bits = coordinates(length)
    root = power(ROOT, 2**60 // length)
    powers = [ONE]
    for _ in range(length - 1):
        powers.append(multiply(powers[-1], root))
    out = [ZERO] * length
    for i in range(length):
        total = ZERO
        for l, x in enumerate(row):
            if x:
                total = add(total, multiply((x % P, 0), powers[i * l % length]))
        out[int(format(i, "0%db" % bits)[::-1], 2) if bits else 0] = total
    return out


def pieces(data):
    return [data[at : at + 1024] for at in range(0, len(data), 1024)]


def levels(leaves):
    level = [hashlib.sha256(b"\0" + leaf).digest() for leaf in leaves]
    level += [bytes(32)] * (2 ** coordinates(len(level)) - len(level))
    found = [level]
    while len(level) > 1:
        level = [hashlib.sha256(b"\1" + p + q).digest() for p, q in zip(level[::2], level[1::2])]
        found.append(level)
    return found


def beside(tree, known):
    out = b""
    for level in tree[:-1]:
        out += b"".join(level[at ^ 1] for at in known if at ^ 1 not in known)
        known = sorted({at // 2 for at in known})
    return out


def places(state, count, below):
    drawn = [tagged("tsw1/place", state, struct.pack("<I", i)) for i in range(count)]
    return sorted({int.from_bytes(found[:4], "little") % below for found in drawn})


class Coded:
    def __init__(self, matrix):
        self.matrix, self.rows = matrix, code_rows(matrix)
        words = [codeword(row) for row in self.rows]
        self.columns = [spell(column) for column in zip(*words)]
        self.each = len(pieces(self.columns[0]))
        self.tree = levels([piece for column in self.columns for piece in pieces(column)])

    def code(self):
        """The root of the columns, and the sizes that they do not show."""
        return tagged("tsw1/code", struct.pack("<QQ", len(self.matrix), len(self.matrix[0])), self.tree[-1][0])

    def open(self, state, row, column):
        """The bytes of an opening, and the state after it."""
        low = coordinates(len(self.rows[0]))
        point = (column + row)[low:]
        by_point = [sumcheck.weight(point, i) for i in range(len(self.rows))]
        by_chance = [sumcheck.draw(state, i) for i in range(len(self.rows))]
        said = spell(combined(self.rows, by_point) + combined(self.rows, by_chance))
        state = tagged("tsw1/absorb", state, said)
        columns, tied = places(state, COLUMNS, len(self.columns)), places(state, TIED_ROWS, len(self.rows))
        leaves = [at * self.each + i for at in columns for i in range(self.each)]
        opened = b"".join(self.columns[at] for at in columns)
        width, wide = len(self.matrix[0]), 2 ** coordinates(len(self.matrix[0]))
        own = [piece for line in self.matrix for piece in pieces(struct.pack("<%db" % width, *line))]
        wanted = sorted({at // wide * -(-width // 1024) + at % wide // 1024
                         for i in tied for at in range(i * 2**low, (i + 1) * 2**low)
                         if at // wide < len(self.matrix) and at % wide < width})
        lines = b"".join(own[leaf] for leaf in wanted)
        proof = said + opened + beside(self.tree, leaves) + lines + (beside(levels(own), wanted) if wanted else b"")
        return proof, tagged("tsw1/absorb", state, opened, lines)


def combined(rows, weights):
    out = [ZERO] * len(rows[0])
    for row, weight in zip(rows, weights):
        out = [add(total, multiply((x % P, 0), weight)) for total, x in zip(out, row)]
    return out


SIZES = [(1, 1, 1, 1), (3, 2, 5, 2), (20, 3, 16, 8)]


def cases(seed_of):
    found = []
    for number, (rows, columns, k, block) in enumerate(SIZES):
        data = iter(b"".join(hashlib.sha256(seed_of("committed") + struct.pack("<II", number, i)).digest()
                             for i in range(16)))
        a = [[next(data) % 255 - 127 for _ in range(k)] for _ in range(rows)]
        b = [[next(data) % 255 - 127 for _ in range(k)] for _ in range(columns)]
        c = [[sum(x * y for x, y in zip(p, q)) for q in b] for p in a]
        work_id = hashlib.sha256(b"committed %d" % number).digest()
        coded = [Coded(a), Coded(b)]
        codes = [each.code() for each in coded]
        done = sumcheck.rounds(tagged("tsw1/committed", *sumcheck.statement(work_id, a, b, c, block), *codes), a, b, c)
        state = tagged("tsw1/absorb", done["state"], spell(done["said"][-2:]))
        first, state = coded[0].open(state, done["row"], done["inner"])
        second, _ = coded[1].open(state, done["column"], done["inner"])
        proof = spell(done["said"]) + first + second
        found.append({"rows": rows, "columns": columns, "k": k, "block": block, "workId": work_id.hex(), "a": a, "b": b,
                      "codes": [code.hex() for code in codes], "proofBytes": len(proof),
                      "proofSha256": hashlib.sha256(proof).hexdigest()})
    return found
