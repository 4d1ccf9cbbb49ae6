"""W10 of docs/spec/work.md: a product of hidden matrices, proven and checked. The check folds the bases round by round."""
import hashlib
import struct

import ristretto
from ristretto import L


def named(name, of, index):
    return ristretto.derive(hashlib.sha512(b"tsz1/point/" + name.encode() + of + struct.pack("<I", index)).digest())


def tagged(tag, *parts):
    return hashlib.sha256(tag.encode() + b"".join(parts)).digest()


def spell(scalar):
    return (scalar % L).to_bytes(32, "little")


class Transcript:
    def __init__(self, statement):
        self.state = tagged("tsz1/product", statement)

    def absorb(self, *said):
        self.state = tagged("tsz1/absorb", self.state, *said)

    def draw(self, count):
        return [wide(hashlib.sha512(b"tsz1/draw" + self.state + struct.pack("<I", i)).digest()) for i in range(count)]


def wide(data):
    return int.from_bytes(data, "little") % L


def dot(a, b):
    return sum(x * y for x, y in zip(a, b)) % L


def bases(inner, commitments):
    identity = tagged("tsz1/matrix", *commitments)
    return {"value": named("value", b"", 0), "blind": named("blind", b"", 0), "inner": named("inner", b"", 0),
            "left": [named("left", b"", i) for i in range(inner)],
            "right": [named("right", identity, i) for i in range(inner)]}


def side(open_entries, hidden):
    if hidden is None:
        return b"\0" + struct.pack("<%di" % len(open_entries), *open_entries)
    return b"\1" + b"".join(hidden)


def prove(case, chance):
    """case: a by rows, b by columns, which of b and c are hidden. Chance is asked in the order of the text."""
    a, b = case["a"], case["b"]
    rows, inner, columns = len(a), len(a[0]), len(b)
    c = [[sum(x * y for x, y in zip(row, column)) for column in b] for row in a]
    left, blind = [named("left", b"", i) for i in range(inner)], named("blind", b"", 0)
    blind_a = [wide(chance()) for _ in a]
    said_a = [ristretto.encode(ristretto.combine(left + [blind], row + [by])) for row, by in zip(a, blind_a)]
    g = bases(inner, said_a)
    blind_b = [wide(chance()) for _ in b] if case["hidesB"] else [0] * columns
    blind_c = [[wide(chance()) for _ in b] for _ in a] if case["hidesC"] else [[0] * columns for _ in a]
    said_b = [ristretto.encode(ristretto.combine(g["right"] + [blind], column + [by]))
              for column, by in zip(b, blind_b)] if case["hidesB"] else None
    said_c = [ristretto.encode(ristretto.combine([g["value"], blind], [c[i][j], blind_c[i][j]]))
              for i in range(rows) for j in range(columns)] if case["hidesC"] else None
    statement = (struct.pack("<III", rows, inner, columns) + b"".join(said_a)
                 + side([x for column in b for x in column], said_b) + side([x for row in c for x in row], said_c))
    draws = Transcript(statement)
    drawn = draws.draw(rows + columns)
    r, s = drawn[:rows], drawn[rows:]
    mask_vectors, mask_first, mask_second = (wide(chance()) for _ in range(3))
    mask_l = [wide(chance()) for _ in range(inner)]
    mask_r = [wide(chance()) for _ in range(inner)]
    l0 = [dot(r, [row[i] for row in a]) for i in range(inner)]
    r0 = [dot(s, [column[i] for column in b]) for i in range(inner)]
    out = [ristretto.encode(ristretto.combine(g["left"] + g["right"] + [blind], mask_l + mask_r + [mask_vectors])),
           ristretto.encode(ristretto.combine([g["value"], blind], [dot(l0, mask_r) + dot(mask_l, r0), mask_first])),
           ristretto.encode(ristretto.combine([g["value"], blind], [dot(mask_l, mask_r), mask_second]))]
    draws.absorb(*out)
    x = draws.draw(1)[0]
    l = [(p + x * q) % L for p, q in zip(l0, mask_l)]
    rr = [(p + x * q) % L for p, q in zip(r0, mask_r)]
    blind_total = sum(r[i] * s[j] * blind_c[i][j] for i in range(rows) for j in range(columns))
    out += [spell(dot(l, rr)), spell(blind_total + x * mask_first + x * x * mask_second),
            spell(dot(r, blind_a) + dot(s, blind_b) + x * mask_vectors)]
    draws.absorb(*out[3:6])
    inner_base = ristretto.multiply(draws.draw(1)[0], g["inner"])
    lefts, rights = g["left"], g["right"]
    while len(l) > 1:
        h = len(l) // 2
        up = ristretto.combine(lefts[h:] + rights[:h] + [inner_base], l[:h] + rr[h:] + [dot(l[:h], rr[h:])])
        down = ristretto.combine(lefts[:h] + rights[h:] + [inner_base], l[h:] + rr[:h] + [dot(l[h:], rr[:h])])
        out += [ristretto.encode(up), ristretto.encode(down)]
        draws.absorb(*out[-2:])
        y = draws.draw(1)[0]
        l, rr, lefts, rights = fold(l, rr, lefts, rights, y)
    proof = b"".join(out + [spell(l[0]), spell(rr[0])])
    return statement, said_a, said_b, said_c, proof


def fold(l, rr, lefts, rights, y):
    h, back = len(lefts) // 2, pow(y, L - 2, L)
    new_lefts = [ristretto.add(p, ristretto.multiply(y, q)) for p, q in zip(lefts[:h], lefts[h:])]
    new_rights = [ristretto.add(p, ristretto.multiply(back, q)) for p, q in zip(rights[:h], rights[h:])]
    if l is None:
        return None, None, new_lefts, new_rights
    return ([(p + back * q) % L for p, q in zip(l[:h], l[h:])], [(p + y * q) % L for p, q in zip(rr[:h], rr[h:])],
            new_lefts, new_rights)


def check(case, statement, said_a, said_b, said_c, proof):
    """By the text, with every fold done on the commitment and on the bases."""
    rows, inner, columns = struct.unpack("<III", statement[:12])
    g = bases(inner, said_a)
    parts = [proof[at:at + 32] for at in range(0, len(proof), 32)]
    draws = Transcript(statement)
    drawn = draws.draw(rows + columns)
    r, s = drawn[:rows], drawn[rows:]
    total = ristretto.combine(list(map(ristretto.decode, said_a)), r)
    if said_b is None:
        sums = [dot(s, [column[i] for column in case["b"]]) for i in range(inner)]
        total = ristretto.add(total, ristretto.combine(g["right"], sums))
    else:
        total = ristretto.add(total, ristretto.combine(list(map(ristretto.decode, said_b)), s))
    weights = [x * y % L for x in r for y in s]
    c = [sum(p * q for p, q in zip(row, column)) for row in case["a"] for column in case["b"]]
    value = (ristretto.multiply(dot(weights, c), g["value"]) if said_c is None
             else ristretto.combine(list(map(ristretto.decode, said_c)), weights))
    mask, first, second = map(ristretto.decode, parts[:3])
    sums, blind_total, blind_vectors = (int.from_bytes(part, "little") for part in parts[3:6])
    draws.absorb(*parts[:3])
    x = draws.draw(1)[0]
    claimed = ristretto.combine([g["value"], g["blind"]], [sums, blind_total])
    if not ristretto.same(claimed, ristretto.combine([value, first, second], [1, x, x * x])):
        return False
    draws.absorb(*parts[3:6])
    inner_base = ristretto.multiply(draws.draw(1)[0], g["inner"])
    total = ristretto.combine([total, mask, g["blind"], inner_base], [1, x, -blind_vectors, sums])
    lefts, rights = g["left"], g["right"]
    for at in range(6, len(parts) - 2, 2):
        draws.absorb(*parts[at:at + 2])
        y = draws.draw(1)[0]
        up, down = map(ristretto.decode, parts[at:at + 2])
        total = ristretto.combine([total, up, down], [1, y, pow(y, L - 2, L)])
        _, _, lefts, rights = fold(None, None, lefts, rights, y)
    l, rr = (int.from_bytes(part, "little") for part in parts[-2:])
    return ristretto.same(total, ristretto.combine([lefts[0], rights[0], inner_base], [l, rr, l * rr]))


SIZES = [(1, 1, 1, True, True), (2, 4, 1, False, False), (2, 2, 3, True, False), (3, 4, 2, False, True)]


def cases(seed_of):
    found = []
    for number, (rows, inner, columns, hides_b, hides_c) in enumerate(SIZES):
        name = "private product %d" % number
        data = iter(b"".join(hashlib.sha256(seed_of(name) + bytes([i])).digest() for i in range(4)))
        case = {"a": [[next(data) % 255 - 127 for _ in range(inner)] for _ in range(rows)],
                "b": [[next(data) % 255 - 127 for _ in range(inner)] for _ in range(columns)],
                "hidesB": hides_b, "hidesC": hides_c, "chance": name}
        count = iter(range(10**6))
        chance = lambda: hashlib.sha512(("%s %d" % (name, next(count))).encode()).digest()
        statement, said_a, said_b, said_c, proof = prove(case, chance)
        if not check(case, statement, said_a, said_b, said_c, proof):
            raise ValueError("the second implementation refuses its own proof")
        found.append({**case, "commitments": [part.hex() for part in said_a], "statement": statement.hex(),
                      "proof": proof.hex()})
    return found
