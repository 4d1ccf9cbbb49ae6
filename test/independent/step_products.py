"""W12.2 of docs/spec/work.md: the products of a transition in one sumcheck, every sum over the whole cube by its definition."""
import hashlib
import struct

P = 15 * 2**27 + 1
ZERO, ONE = (0, 0, 0, 0), (1, 0, 0, 0)


def add(a, b):
    return tuple((x + y) % P for x, y in zip(a, b))


def subtract(a, b):
    return tuple((x - y) % P for x, y in zip(a, b))


def multiply(a, b):
    out = [0] * 7
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] += x * y
    return tuple((out[i] + 11 * (out[i + 4] if i < 3 else 0)) % P for i in range(4))


def spell(numbers):
    return b"".join(struct.pack("<IIII", *number) for number in numbers)


def tagged(tag, *parts):
    return hashlib.sha256(tag.encode() + b"".join(parts)).digest()


def coordinates(size):
    return (size - 1).bit_length()


class Transcript:
    def __init__(self, *statement):
        self.state = tagged("tsw1/step", *statement)

    def absorb(self, numbers):
        self.state = tagged("tsw1/absorb", self.state, spell(numbers))

    def draw(self, count):
        found = [tagged("tsw1/point", self.state, struct.pack("<I", i)) for i in range(count)]
        return [tuple(part % P for part in struct.unpack("<QQQQ", each)) for each in found]


def weight(point, index):
    product = ONE
    for bit, coordinate in enumerate(point):
        product = multiply(product, coordinate if index >> bit & 1 else subtract(ONE, coordinate))
    return product


def value(matrix, row, column):
    total = ZERO
    for i, entries in enumerate(matrix):
        for j, entry in enumerate(entries):
            if entry:
                total = add(total, multiply((entry % P, 0, 0, 0), multiply(weight(row, i), weight(column, j))))
    return total


def turned(matrix):
    return [list(column) for column in zip(*matrix)]


class Product:
    """A and B as lists of rows; `at` is one term of the sum at any point of the cube's field."""

    def __init__(self, a, b):
        self.a, self.b, self.inner = a, b, len(a[0])
        self.n = coordinates(self.inner)
        self.c = [[sum(x * y for x, y in zip(p, q)) for q in b] for p in a]

    def outer(self, r, s):
        self.r, self.s = r[: coordinates(len(self.a))], s[: coordinates(len(self.b))]

    def at(self, z):
        term = multiply(value(self.a, self.r, z[: self.n]), value(self.b, self.s, z[: self.n]))
        for coordinate in z[self.n :]:
            term = multiply(term, subtract(ONE, coordinate))
        return term


def prove(kept, products, statement):
    """Products are (a, is turned, b, is turned) over the kept; what is said, and the claims it leaves."""
    place = lambda at, flag: turned(kept[at]) if flag else kept[at]
    made = [Product(place(a, fa), place(b, fb)) for a, fa, b, fb in products]
    most = lambda size: max(coordinates(size(p)) for p in made)
    rows, columns, bits = most(lambda p: len(p.a)), most(lambda p: len(p.b)), most(lambda p: p.inner)
    transcript = Transcript(*statement)
    drawn = transcript.draw(rows + columns)
    r, s = drawn[:rows], drawn[rows:]
    for product in made:
        product.outer(r, s)
    results = [value(p.c, p.r, p.s) for p in made]
    transcript.absorb(results)
    gamma = transcript.draw(1)[0]
    said, z = list(results), []
    for _ in range(bits):
        at = [over(made, gamma, bits, [t] + z) for t in (ZERO, ONE, (2, 0, 0, 0))]
        square = multiply(add(subtract(at[2], add(at[1], at[1])), at[0]), ((P + 1) // 2, 0, 0, 0))
        said += [at[0], square]
        transcript.absorb([at[0], square])
        z = transcript.draw(1) + z
    last = {}
    for p, (a, fa, b, fb) in zip(made, products):
        last.setdefault((a, ("z", "r") if fa else ("r", "z")), value(p.a, p.r, z[: p.n]))
        last.setdefault((b, ("z", "s") if fb else ("s", "z")), value(p.b, p.s, z[: p.n]))
    claims = [{"kept": at, "row": row, "column": column, "value": spell([found]).hex()}
              for (at, (row, column)), found in last.items()]
    return spell(said + list(last.values())), claims


def read(data, count):
    numbers = list(struct.iter_unpack("<IIII", data)) if len(data) == 16 * count else []
    return numbers if numbers and all(part < P for number in numbers for part in number) else None


def check(shapes, products, statement, data):
    """The values of operands that are left to be opened, by place and points; None where the rounds do not lead to them."""
    found = follow(shapes, products, statement, data)
    return found["left"] if isinstance(found, dict) else None


def said_count(shapes, products):
    """How many numbers of K are said of these products."""
    most, places = sizes_of(shapes, products)
    return len(products) + 2 * most[2] + len(places)


def sizes_of(shapes, products):
    """The most coordinates of rows, of columns and between; the values of operands, in the order they are said."""
    sizes = [(size(shapes[a], fa), size(shapes[b], fb)) for a, fa, b, fb in products]
    most = [max(coordinates(n) for n in found) for found in (
        [a[0] for a, _ in sizes], [b[0] for _, b in sizes], [a[1] for a, _ in sizes])]
    places = {}
    for a, fa, b, fb in products:
        for key in ((a, ("z", "r") if fa else ("r", "z")), (b, ("z", "s") if fb else ("s", "z"))):
            places.setdefault(key, len(places))
    return most, places


def follow(shapes, products, statement, data):
    """W12.2.6: what is left to be opened, with the points and the state of the transcript; or the code of the refusal."""
    (rows, columns, bits), places = sizes_of(shapes, products)
    said = read(data, said_count(shapes, products))
    if said is None:
        return "BAD_PROOF"
    results, last = said[: len(products)], said[len(products) + 2 * bits :]
    transcript = Transcript(*statement)
    drawn = transcript.draw(rows + columns)
    transcript.absorb(results)
    gamma = transcript.draw(1)[0]
    powers = [ONE]
    for _ in products:
        powers.append(multiply(powers[-1], gamma))
    left = total([multiply(power, found) for power, found in zip(powers, results)])
    z = []
    for i in range(bits):
        first, square = said[len(products) + 2 * i : len(products) + 2 * i + 2]
        transcript.absorb([first, square])
        t = transcript.draw(1)[0]
        middle = subtract(subtract(left, add(first, first)), square)
        left = add(first, multiply(t, add(middle, multiply(t, square))))
        z = [t] + z
    terms = []
    for power, (a, fa, b, fb) in zip(powers, products):
        term = multiply(last[places[a, ("z", "r") if fa else ("r", "z")]], last[places[b, ("z", "s") if fb else ("s", "z")]])
        for coordinate in z[coordinates(size(shapes[a], fa)[1]) :]:
            term = multiply(term, subtract(ONE, coordinate))
        terms.append(multiply(power, term))
    if left != total(terms):
        return "WRONG_ROUNDS"
    return {"left": {key: last[at] for key, at in places.items()}, "results": results, "state": transcript.state,
            "r": drawn[:rows], "s": drawn[rows:], "z": z}


def total(numbers):
    found = ZERO
    for number in numbers:
        found = add(found, number)
    return found


def size(shape, is_turned):
    return shape[::-1] if is_turned else shape


def over(made, gamma, bits, high):
    total = ZERO
    for low in range(2 ** (bits - len(high))):
        corner = [ONE if low >> i & 1 else ZERO for i in range(bits - len(high))]
        power = ONE
        for product in made:
            total = add(total, multiply(power, product.at(corner + high)))
            power = multiply(power, gamma)
    return total


# Shapes of what is kept, and products of it: one by itself, with itself, shared and turned, of other lengths.
CASES = [
    ([(1, 1)], [(0, False, 0, False)]),
    ([(3, 4)], [(0, False, 0, False)]),
    ([(3, 5), (2, 5)], [(0, False, 1, False)]),
    ([(4, 3), (2, 3), (4, 2)], [(0, False, 1, False), (2, False, 1, True), (2, True, 0, True)]),
    ([(2, 6), (3, 6), (5, 2)], [(0, False, 1, False), (0, False, 0, False), (2, True, 2, True), (2, False, 0, True)]),
]


def cases(seed_of):
    found = []
    for number, (shapes, products) in enumerate(CASES):
        data = iter(b"".join(hashlib.sha256(seed_of("stepProducts") + struct.pack("<II", number, i)).digest() for i in range(4)))
        kept = [[[next(data) % 255 - 127 for _ in range(width)] for _ in range(rows)] for rows, width in shapes]
        statement = hashlib.sha256(b"step products %d" % number).digest()
        said, claims = prove(kept, products, [statement])
        left = check(shapes, products, [statement], said)
        assert [spell([found]).hex() for found in left.values()] == [claim["value"] for claim in claims]
        # Every number of it one more: no round and no value may be another.
        numbers = read(said, len(said) // 16)
        for at in range(len(numbers)):
            others = numbers[:at] + [add(numbers[at], ONE)] + numbers[at + 1 :]
            assert check(shapes, products, [statement], spell(others)) is None
        found.append({"kept": kept,
                      "products": [{"a": a, "isTurnedA": fa, "b": b, "isTurnedB": fb} for a, fa, b, fb in products],
                      "statement": statement.hex(), "said": said.hex(), "claims": claims})
    return found
