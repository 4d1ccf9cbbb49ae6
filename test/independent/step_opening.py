"""W12.1.7 to W12.1.9 of docs/spec/work.md, checked: values of kept tensors opened in the matrix, and rows of it shown."""
import hashlib
import struct
from fractions import Fraction
from functools import lru_cache

from step_matrix import COLUMNS, ONE, P, SIZES, ZERO, absorb, add, coordinates, draw, low_of, multiply, places, root_of, spell, turned
from step_plan import Refused

LETTERS = {"i8": "b", "i32": "i"}


def weights(point):
    """Those of all indices at a point."""
    found = [ONE]
    for at in point:
        high = [multiply(at, w) for w in found]
        found = [add(w, tuple(-x for x in h)) for w, h in zip(found, high)] + high
    return found


def from_below(known, stream, size):
    """W4.1.3: the root over hashes by their places, with those beside them from a stream; None where it ends."""
    while size > 1:
        above = {}
        for at in sorted(known):
            if at ^ 1 not in known:
                other = stream.take(32)
                if other is None:
                    return None
                pair = (known[at], other) if at % 2 == 0 else (other, known[at])
            else:
                pair = (known[at & ~1], known[at | 1])
            above[at // 2] = hashlib.sha256(b"\1" + pair[0] + pair[1]).digest()
        known, size = above, size // 2
    return known[0]


class Stream:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            return None
        self.at += count
        return self.data[self.at - count:self.at]

    def is_done(self):
        return self.at == len(self.data)


@lru_cache(maxsize=4096)
def further_shares(low, column):
    """What each number of a row adds to its further value at a column, from the polynomial through them (W12.1.2)."""
    k = 2**low
    root, x = pow(31, (P - 1) // k, P), 31 * pow(pow(31, (P - 1) // (k // 4), P), turned(column - k, low - 2), P) % P
    front = (pow(x, k, P) - 1) * pow(k, -1, P)
    own = [1]
    for _ in range(k - 1):
        own.append(own[-1] * root % P)
    return [front * h % P * pow(x - h, -1, P) % P for h in (own[turned(i, low)] for i in range(k))]


class Layout:
    """Where every row of every tensor lies (W12.1.5). Tensors are (name, type, rows, width)."""

    def __init__(self, tensors):
        self.tensors = tensors
        self.low = low_of([{"rows": rows, "width": width} for _, _, rows, width in tensors])
        self.k, self.first, self.counts = 2**self.low, {}, {"i8": 0, "i32": 0}
        for name, kind, rows, width in tensors:
            self.first[name] = self.counts[kind]
            self.counts[kind] += -(-rows // self.per(width))
        if self.low > 17 or sum(self.counts.values()) > 2**20:
            raise Refused("TOO_BIG")

    def per(self, width):
        return 2 ** (self.low - coordinates(width))

    def spelled(self):
        each = [struct.pack("<4I", len(name.encode()), SIZES[kind], rows, width) + name.encode()
                for name, kind, rows, width in self.tensors]
        return struct.pack("<I", len(each)) + b"".join(each)

    def places_of(self, width):
        """The places of a row of the matrix that are no padding by this width."""
        wide = 2 ** coordinates(width)
        return [j for j in range(self.k) if j % wide < width]

    def shown_rows(self, tensor, asked):
        _, _, rows, width = tensor
        per = self.per(width)
        return sorted({row // per for row in asked} | ({rows // per} if rows % per else set()))


def classes_of(layout, claims):
    classes = {}
    for tensor, row, column, value in claims:
        fits = layout.low - coordinates(tensor[3])
        along = tuple((column + row[:fits] + [ZERO] * layout.low)[:layout.low])
        classes.setdefault((tensor[3], along), []).append((tensor, row[fits:], value))
    return classes


# ((floor(2^64 / p) + 1) / 2^64)^4
NUMBER = Fraction(2**64 // P + 1, 2**64) ** 4


def error(layout, claims):
    """W12.4.1, with all rows shown."""
    classes = classes_of(layout, claims).values()
    h, c = max(len(row) for of in classes for _, row, _ in of), max(map(len, classes))
    d, n = len(classes) + sum(layout.counts.values()), 5 * layout.k // 4
    return Fraction(9, 10) ** 665 + ((h + c) * n + c + d) * NUMBER


def check(layout, root, state, claims, asked, data):
    """claims: (tensor, row, column, value); asked: rows of tensors by name. Those shown in the clear, as {name: {row: entries}}."""
    stream = Stream(data)
    state = absorb(state, spell([value for *_, value in claims]))
    rho, classes = draw(state, 0), classes_of(layout, claims)
    said, us = [], []
    for width, _ in classes:
        own = layout.places_of(width)
        said.append(need(stream.take(16 * len(own)), "BAD_OPENING"))
        numbers = list(struct.iter_unpack("<4I", said[-1]))
        if any(x >= P for number in numbers for x in number):
            raise Refused("BAD_OPENING")
        us.append([ZERO] * layout.k)
        for j, number in zip(own, numbers):
            us[-1][j] = number
    state = absorb(state, root_of(b"".join(said)))
    clear, shown, spelled = {}, [], b""
    for tensor in layout.tensors:
        found, data = show(layout, tensor, asked.get(tensor[0], ()), stream, shown)
        clear[tensor[0]], spelled = found, spelled + data
    state = absorb(state, root_of(spelled))
    columns = columns_of(layout, root, state, stream)
    by_class = compare_values(rho, classes, us)
    compare_code(layout, draw(state, 0), by_class, us, shown, columns)
    return clear


def need(found, code):
    if found is None:
        raise Refused(code)
    return found


def show(layout, tensor, asked, stream, shown):
    """The rows of one tensor that are shown, and their bytes; (type, row of the matrix, its numbers) go into `shown`."""
    name, kind, rows, width = tensor
    per, wide, found, spelled = layout.per(width), 2 ** coordinates(width), {}, b""
    for at in layout.shown_rows(tensor, asked):
        line = []
        for row in range(at * per, min(rows, (at + 1) * per)):
            data = need(stream.take(width * SIZES[kind]), "BAD_OPENING")
            found[row] = list(struct.unpack("<%d%s" % (width, LETTERS[kind]), data))
            line += found[row] + [0] * (wide - width)
            spelled += data
        shown.append((kind, layout.first[name] + at, line + [0] * (layout.k - len(line))))
    return found, spelled


def columns_of(layout, root, state, stream):
    """The columns that are drawn, by their places, as {type: entries}; under the root (W12.1.6, W12.1.8)."""
    drawn = places(state, COLUMNS, 5 * layout.k // 4)
    found, hashes = {at: {} for at in drawn}, {}
    for is_further in (False, True):
        for half, kind in enumerate(("i8", "i32")):
            letter = "I" if is_further else LETTERS[kind]
            for at in (c for c in drawn if (c >= layout.k) == is_further):
                count = layout.counts[kind]
                data = need(stream.take(struct.calcsize(letter) * count), "BAD_OPENING")
                found[at][kind] = struct.unpack("<%d%s" % (count, letter), data)
                if is_further and any(x >= P for x in found[at][kind]):
                    raise Refused("BAD_OPENING")
                hashes[2 * at + half] = hashlib.sha256(b"tsw1/column".ljust(64, b"\0") + data).digest()
    reached = from_below(hashes, stream, 2 ** (layout.low + 2))
    if reached is None or not stream.is_done():
        raise Refused("BAD_OPENING")
    if reached != root:
        raise Refused("COLUMN_NOT_COMMITTED")
    return found


def compare_values(rho, classes, us):
    """Of every class its claims with their powers of rho, where what it says has their values."""
    found = []
    for ((_, along), members), u in zip(classes.items(), us):
        power, total, own = ONE, ZERO, []
        for tensor, high, value in members:
            own.append((tensor, high, power))
            total, power = add(total, multiply(power, value)), multiply(power, rho)
        got = ZERO
        for w, x in zip(weights(along), u):
            if x != ZERO:
                got = add(got, multiply(w, x))
        if got != total:
            raise Refused("WRONG_VALUE")
        found.append(own)
    return found


def compare_code(layout, b, by_class, us, shown, columns):
    """W12.1.9, all classes and rows shown at once by powers of b."""
    by_row = {kind: [ZERO] * layout.counts[kind] for kind in ("i8", "i32")}
    combined, power = [[0] * layout.k for _ in range(4)], ONE
    for own, u in zip(by_class, us):
        for (name, kind, rows, width), high, by_rho in own:
            w, factor = weights(high), multiply(power, by_rho)
            for i in range(-(-rows // layout.per(width))):
                at = layout.first[name] + i
                by_row[kind][at] = add(by_row[kind][at], multiply(factor, w[i]))
        for j, x in enumerate(u):
            if x != ZERO:
                for c, part in enumerate(multiply(power, x)):
                    combined[c][j] += part
        power = multiply(power, b)
    for kind, at, line in shown:
        by_row[kind][at] = add(by_row[kind][at], power)
        for c in range(4):
            by = power[c]
            combined[c] = [have + by * x for have, x in zip(combined[c], line)]
        power = multiply(power, b)
    coordinates_of = {kind: list(zip(*by_row[kind])) or [()] * 4 for kind in by_row}
    for at, own in columns.items():
        for c in range(4):
            total = sum(w * x for kind in own for w, x in zip(coordinates_of[kind][c], own[kind]))
            code = combined[c][at] if at < layout.k else sum(
                x * share for x, share in zip(combined[c], further_shares(layout.low, at)))
            if (total - code) % P:
                raise Refused("WRONG_CODE")
