"""W8 of docs/spec/work.md: the product of two integer matrices proven by sumcheck, with whole numbers and lists."""
import hashlib
import struct

P = 2**61 - 1
ONE = (1, 0)
ZERO = (0, 0)


def add(a, b):
    return (a[0] + b[0]) % P, (a[1] + b[1]) % P


def subtract(a, b):
    return (a[0] - b[0]) % P, (a[1] - b[1]) % P


def multiply(a, b):
    return (a[0] * b[0] - a[1] * b[1]) % P, (a[0] * b[1] + a[1] * b[0]) % P


def spell(numbers):
    return b"".join(struct.pack("<QQ", *number) for number in numbers)


def tagged(tag, *parts):
    return hashlib.sha256(tag.encode() + b"".join(parts)).digest()


def coordinates(size):
    return (size - 1).bit_length()


def draw(state, index):
    found = tagged("tsw1/point", state, struct.pack("<I", index))
    return int.from_bytes(found[:16], "little") % P, int.from_bytes(found[16:], "little") % P


def weight(point, index):
    product = ONE
    for bit, coordinate in enumerate(point):
        product = multiply(product, coordinate if index >> bit & 1 else subtract(ONE, coordinate))
    return product


def value(matrix, row, column):
    """The extension of a matrix at a point, by its definition."""
    total = ZERO
    for i, entries in enumerate(matrix):
        for j, entry in enumerate(entries):
            term = multiply(weight(row, i), weight(column, j))
            total = add(total, multiply((entry % P, 0), term))
    return total


def tree_root(rows, code):
    leaves = []
    for row in rows:
        data = struct.pack("<%d%s" % (len(row), code), *row)
        leaves += [hashlib.sha256(b"\0" + data[at : at + 1024]).digest() for at in range(0, len(data), 1024)]
    leaves += [bytes(32)] * (2 ** coordinates(len(leaves)) - len(leaves))
    while len(leaves) > 1:
        leaves = [hashlib.sha256(b"\1" + a + b).digest() for a, b in zip(leaves[::2], leaves[1::2])]
    return leaves[0]


def prove(work_id, a, b, c, block):
    """b by its columns. The sums over what is left are taken over the whole cube anew each round, as the text has them."""
    state = tagged("tsw1/sumcheck", *statement(work_id, a, b, c, block))
    return spell(rounds(state, a, b, c)["said"])


def statement(work_id, a, b, c, block):
    roots = [tree_root(c[at : at + block], "i") for at in range(0, len(a), block)]
    sizes = struct.pack("<QQQQ", len(a), len(b), len(a[0]), block)
    return [work_id, sizes, tree_root(a, "b"), tree_root(b, "b")] + roots


def rounds(state, a, b, c):
    rows, columns, k = len(a), len(b), len(a[0])
    drawn = [draw(state, i) for i in range(coordinates(rows) + coordinates(columns))]
    row, column = drawn[: coordinates(rows)], drawn[coordinates(rows) :]
    bits = coordinates(k)
    claim = value(c, row, column)
    said, bound = [claim], []
    state = tagged("tsw1/absorb", state, spell([claim]))
    for _ in range(bits):
        at = [over(a, b, row, column, bits, [t] + bound) for t in (ZERO, ONE, (2, 0))]
        last = multiply(add(subtract(at[2], add(at[1], at[1])), at[0]), ((P + 1) // 2, 0))
        said += [at[0], last]
        state = tagged("tsw1/absorb", state, spell([at[0], last]))
        bound = [draw(state, 0)] + bound
    said += [value(a, row, bound), value(b, column, bound)]
    return {"said": said, "state": state, "row": row, "column": column, "inner": bound}


def over(a, b, row, column, bits, high):
    total = ZERO
    for low in range(2 ** (bits - len(high))):
        corner = [ONE if low >> i & 1 else ZERO for i in range(bits - len(high))]
        total = add(total, multiply(value(a, row, corner + high), value(b, column, corner + high)))
    return total


SIZES = [(1, 1, 1, 1), (2, 3, 4, 2), (5, 4, 7, 2), (3, 1, 5, 3), (4, 6, 1, 1), (1, 2, 9, 1)]


def cases(seed_of):
    found = []
    for number, (rows, columns, k, block) in enumerate(SIZES):
        data = b"".join(hashlib.sha256(seed_of("sumcheck") + struct.pack("<II", number, i)).digest() for i in range(8))
        entries = iter(data)
        a = [[next(entries) % 255 - 127 for _ in range(k)] for _ in range(rows)]
        b = [[next(entries) % 255 - 127 for _ in range(k)] for _ in range(columns)]
        c = [[sum(x * y for x, y in zip(p, q)) for q in b] for p in a]
        work_id = hashlib.sha256(b"work %d" % number).digest()
        proof = prove(work_id, a, b, c, block)
        sizes = {"rows": rows, "columns": columns, "k": k, "block": block}
        found.append({**sizes, "workId": work_id.hex(), "a": a, "b": b, "c": c, "proof": proof.hex()})
    return found
