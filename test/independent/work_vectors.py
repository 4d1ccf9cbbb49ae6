"""Calls of the ops of exact work with what they must leave behind, for test/vectors/work.json.

A case has the op, its arguments as src/core/work/workKernels.ts orders them (offsets count from the start of a memory, 0 is
no operand), what lies in the memory before, and what one range of it holds after. `before` entries: [offset, hex] or
[offset, seed, precision, count, exponent] for entries of section 3 of proof-of-gpu.md under that seed, row 0 of matrix A;
those of fp32 times 2^exponent. `after`: [offset, hex], or [offset, bytes, sha256] if it is long.
"""
import hashlib
import struct

import flow as lattice
import picture as pictures
import tsp1
import work
from work import f

MODES = {"none": 0, "result": 1, "operand": 2}


class Call:
    def __init__(self, op, seed):
        self.op, self.seed, self.next, self.before, self.count = op, seed, 16, [], 0

    def room(self, size):
        at = self.next
        self.next = (at + size + 15) // 16 * 16
        return at

    def raw(self, data):
        at = self.room(len(data))
        self.before.append([at, data.hex()])
        return at

    def given(self, values):
        """f32 numbers, spelled out."""
        values = [f(x) for x in values]
        return self.raw(b"".join(struct.pack("<f", x) for x in values)), values

    def words(self, values):
        return self.raw(b"".join(struct.pack("<I", x) for x in values)), values

    def floats(self, count, exponent=2):
        seed = self._seed()
        found = tsp1.entries(seed, 0, "fp32", 0, count)
        at = self.room(4 * count)
        self.before.append([at, seed.hex(), "fp32", count, exponent])
        return at, [x * 2.0 ** (exponent - 23) for x in found]

    def bytes(self, count):
        seed = self._seed()
        at = self.room(count)
        self.before.append([at, seed.hex(), "int8", count, 0])
        return at, tsp1.entries(seed, 0, "int8", 0, count)

    def _seed(self):
        self.count += 1
        return self.seed("work %s %d" % (self.op, self.count))

    def case(self, arguments, at, data, answer=0):
        after = [at, data.hex()] if len(data) <= 1024 else [at, len(data), hashlib.sha256(data).hexdigest()]
        return {"op": self.op, "arguments": arguments, "before": self.before, "after": after, "answer": answer}


def f32s(values):
    return b"".join(struct.pack("<f", x) for x in values)


def i32s(values):
    return b"".join(struct.pack("<i", x) for x in values)


def i8s(values):
    return b"".join(struct.pack("<b", x) for x in values)


def u32s(values):
    return b"".join(struct.pack("<I", x) for x in values)


def cut(values, width):
    return [values[at:at + width] for at in range(0, len(values), width)]


def flat(rows):
    return [x for row in rows for x in row]


# Zeros, ties, the borders of denormal numbers and of every range that a function has.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0 ** -149, -(2.0 ** -149), 2.0 ** -126, -(2.0 ** -126), 2.0 ** -100, 0.5, -0.5, 1.5, 2.5,
           -2.5, 87.0, -87.0, -87.00001, 88.0, 88.00001, -88.0, 100.0, -100.0, 1e18, -1e18, 3.0, -3.0, 0.6931472,
           -0.34657359, 10.0, -10.0, 20.0, -20.0]


def products(seed):
    for rows, columns, k, mask, first in ((1, 1, 1, "none", 0), (3, 5, 100, "none", 0), (9, 33, 70, "none", 0),
                                          (12, 10, 33, "result", 2), (9, 8, 40, "operand", 25), (50, 70, 60, "operand", 3),
                                          (40, 9, 20, "operand", 0)):
        c = Call("product", seed)
        (a, x), (b, y) = c.bytes(rows * k), c.bytes(columns * k)
        out = c.room(4 * rows * columns)
        sums = work.product(cut(x, k), cut(y, k), mask, first)
        yield c.case([a, b, out, rows, columns, k, 1, 1, MODES[mask], first], out, i32s(flat(sums)))
    for rows, columns, k, piece, batches, shared in ((2, 3, 50, 20, 1, 1), (9, 9, 64, 32, 1, 1), (3, 4, 40, 16, 4, 2)):
        c = Call("productPieces", seed)
        pieces = -(-k // piece)
        (a, x), (s, scales) = c.bytes(batches * rows * k), c.given([2.0 ** -(i % 40) / 3 for i in range(batches * rows * pieces)])
        b, y = c.bytes(batches // shared * columns * k)
        out = c.room(4 * batches * rows * columns)
        theirs = [cut(one, k) for one in cut(y, columns * k)]
        found = [work.product_pieces(cut(one, k), cut(scale, pieces), theirs[i // shared], piece)
                 for i, (one, scale) in enumerate(zip(cut(x, rows * k), cut(scales, rows * pieces)))]
        yield c.case([a, s, b, out, rows, columns, k, piece, batches, shared], out, f32s(flat(flat(found))))


def quantised(seed):
    shapes = ((1, 32, 32, False, 2), (3, 45, 20, True, -30), (2, 4100, 4100, False, 100), (1, 7, 7, True, -120))
    for rows, width, piece, with_fold, exponent in shapes:
        for op in ("rowScale", "quantise", "quantiseStochastic"):
            c = Call(op, seed)
            x, values = c.floats(rows * width, exponent)
            fold, vectors = c.floats(2 * width, 0) if with_fold else (0, None)
            folds = cut([abs(v) for v in vectors], width) if with_fold else None
            if with_fold:
                c.before[-1] = [fold, f32s(flat(folds)).hex()]
            rows_of = [(x0, folds[(1 + r) // 2][at:at + piece] if folds else None)
                       for r, row in enumerate(cut(values, width)) for at, x0 in zip(range(0, width, piece), cut(row, piece))]
            scales = [work.row_scale(*pair) for pair in rows_of]
            if op == "rowScale":
                out = c.room(4 * len(scales))
                yield c.case([x, fold, out, rows, width, piece, 1, 2], out, f32s(scales))
                continue
            s, _ = c.given(scales)
            out = c.room(rows * width)
            arguments = [x, fold, s, out, rows, width, piece, 1, 2]
            if op == "quantise":
                found = flat(work.quantise(x0, scale, fold0) for (x0, fold0), scale in zip(rows_of, scales))
            else:
                index, draw, found = 2 ** 35 - 5, (1, 2 ** 32 - 1, 3, 4), []
                for (x0, fold0), scale in zip(rows_of, scales):
                    found += work.quantise_stochastic(x0, scale, draw, index + len(found), fold0)
                arguments += [*draw, index, width]
            yield c.case(arguments, out, i8s(found))
    # Ties, and what lies beyond the scale: the clamp decides.
    for op, extra in (("quantise", []), ("quantiseStochastic", [9, 8, 7, 6, 3, 16])):
        c = Call(op, seed)
        x, values = c.given([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 126.5, -126.5, 127.0, -127.0, 127.4, 200.0, -200.0, 1e30, -1e30, 2.0 ** -149])
        s, _ = c.given([1.0])
        out = c.room(len(values))
        found = work.quantise(values, 1.0) if op == "quantise" else work.quantise_stochastic(values, 1.0, tuple(extra[:4]), 3)
        yield c.case([x, 0, s, out, 1, len(values), len(values), 0, 1, *extra], out, i8s(found))
    for with_columns, with_bias, factor in ((True, True, 1.0), (True, False, f(0.3)), (False, True, 0.125)):
        c = Call("dequantise", seed)
        rows, width = 3, 21
        sums = [(i * 2654435761 + 12345) % 2 ** 32 - 2 ** 31 for i in range(rows * width)]
        a = c.raw(i32s(sums))
        s, scales = c.given([1e-3, 2.0 ** -107, 1 / 3])
        column, columns = c.floats(width, -4) if with_columns else (0, None)
        bias, biases = c.floats(width) if with_bias else (0, None)
        out = c.room(4 * rows * width)
        found = [work.dequantise(row, scale, columns, factor, biases) for row, scale in zip(cut(sums, width), scales)]
        yield c.case([a, s, column, bias, out, rows, width, 0, rows, factor], out, f32s(flat(found)))


ELEMENTS = {
    "gelu": (1, lambda x: work.gelu(x)),
    "relu": (1, lambda x: work.relu(x)),
    "geluBackward": (2, lambda x, d: f(d * work.gelu_slope(x))),
    "reluBackward": (2, lambda x, d: d if x > 0 else 0.0),
    "siluProduct": (2, lambda g, u: f(work.silu(g) * u)),
    "siluProductBackwardUp": (2, lambda g, d: f(d * work.silu(g))),
    "siluProductBackwardGate": (3, lambda g, u, d: f(f(d * u) * work.silu_slope(g))),
    "add": (2, lambda a, b: f(a + b)),
}


def elements(seed):
    for op, (operands, rule) in ELEMENTS.items():
        for count in (40, len(SPECIAL)):
            c = Call(op, seed)
            first = c.floats(count, 4) if count == 40 else c.given(SPECIAL)
            tensors = [first] + [c.floats(count) for _ in range(operands - 1)]
            out = c.room(4 * count)
            found = [rule(*values) for values in zip(*(values for _, values in tensors))]
            yield c.case([at for at, _ in tensors] + [out, count], out, f32s(found))
    c = Call("scale", seed)
    x, values = c.given(SPECIAL)
    out = c.room(4 * len(values))
    yield c.case([x, out, len(values), f(1 / 3)], out, f32s([f(v * f(1 / 3)) for v in values]))


def norms(seed):
    for rows, width, with_mean in ((3, 40, True), (2, 33, False), (1, 4099, True)):
        def statistics(c):
            mean, means = c.floats(rows, -3) if with_mean else (0, [None] * rows)
            inverse, inverses = c.given([0.75 + r for r in range(rows)])
            return mean, means, inverse, inverses
        c = Call("rowMean", seed)
        x, values = c.floats(rows * width)
        out = c.room(4 * rows)
        yield c.case([x, out, rows, width], out, f32s([work.row_mean(row) for row in cut(values, width)]))
        c = Call("normInverse", seed)
        x, values = c.floats(rows * width)
        mean, means = c.floats(rows, -3) if with_mean else (0, [None] * rows)
        out = c.room(4 * rows)
        found = [work.norm_inverse(row, m, f(1e-5)) for row, m in zip(cut(values, width), means)]
        yield c.case([x, mean, out, rows, width, f(1e-5)], out, f32s(found))
        c = Call("norm", seed)
        x, values = c.floats(rows * width)
        mean, means, inverse, inverses = statistics(c)
        gain, gains = c.floats(width, 1)
        shift, shifts = c.floats(width) if with_mean else (0, None)
        out = c.room(4 * rows * width)
        found = [work.norm(row, m, s, gains, shifts) for row, m, s in zip(cut(values, width), means, inverses)]
        yield c.case([x, mean, inverse, gain, shift, out, rows, width], out, f32s(flat(found)))
        for op in ("normBackward", "normGainTerms"):
            c = Call(op, seed)
            x, values = c.floats(rows * width)
            mean, means, inverse, inverses = statistics(c)
            dy, ds = c.floats(rows * width, 0)
            zipped = list(zip(cut(values, width), means, inverses, cut(ds, width)))
            if op == "normBackward":
                gain, gains = c.floats(width, 1)
                out = c.room(4 * rows * width)
                found = [work.norm_backward(row, m, s, gains, d) for row, m, s, d in zipped]
                yield c.case([x, mean, inverse, gain, dy, out, rows, width], out, f32s(flat(found)))
            else:
                out = c.room(4 * rows * width)
                found = [work.norm_gain_terms(row, m, s, d) for row, m, s, d in zipped]
                yield c.case([x, mean, inverse, dy, out, rows, width], out, f32s(flat(found)))


def attention(seed):
    for rows, width, period, first, exponent in ((4, 40, 0, 0, 3), (6, 37, 5, 3, 5), (1, 8300, 0, 0, 4), (3, 33, 100, 20, 8)):
        seen = [work.seen(r, period, first, width) for r in range(rows)]
        c = Call("rowMaximum", seed)
        x, values = c.floats(rows * width, exponent)
        out = c.room(4 * rows)
        found = [work.maximum(row[:n]) for row, n in zip(cut(values, width), seen)]
        yield c.case([x, out, rows, width, period, first], out, f32s(found))
        for op in ("exponentialSum", "exponential"):
            c = Call(op, seed)
            x, values = c.floats(rows * width, exponent)
            visible = [row[:n] for row, n in zip(cut(values, width), seen)]
            tops = [work.maximum(row) for row in visible]
            sums = [work.exponential_sum(row, top) for row, top in zip(visible, tops)]
            maximum, _ = c.given(tops)
            if op == "exponentialSum":
                out = c.room(4 * rows)
                yield c.case([x, maximum, out, rows, width, period, first], out, f32s(sums))
                continue
            out = c.room(4 * rows * width)
            found = [work.exponential(row, top) + [0.0] * (width - len(row)) for row, top in zip(visible, tops)]
            yield c.case([x, maximum, out, rows, width, period, first], out, f32s(flat(found)))
        c = Call("exponentialBackward", seed)
        (e, es), (d, ds), (t, ts) = c.floats(rows * width, 0), c.floats(rows * width), c.floats(rows, 0)
        out = c.room(4 * rows * width)
        found = [work.exponential_backward(a[:n], b[:n], x) + [0.0] * (width - n)
                 for a, b, x, n in zip(cut(es, width), cut(ds, width), ts, seen)]
        yield c.case([e, d, t, out, rows, width, period, first], out, f32s(flat(found)))
        c = Call("rowDot", seed)
        (a, xs), (b, ys) = c.floats(rows * width), c.floats(rows * width)
        out = c.room(4 * rows)
        yield c.case([a, b, out, rows, width], out, f32s(work.row_dot(x, y) for x, y in zip(cut(xs, width), cut(ys, width))))
        c = Call("divideRows", seed)
        (a, xs), (s, divisors) = c.floats(rows * width), c.given([i + 1 / 3 for i in range(rows)])
        out = c.room(4 * rows * width)
        found = [work.divide_row(x, d) for x, d in zip(cut(xs, width), divisors)]
        yield c.case([a, s, out, rows, width], out, f32s(flat(found)))


def losses(seed):
    rows, width = 4, 50
    for op in ("crossEntropy", "crossEntropyBackward"):
        c = Call(op, seed)
        x, values = c.floats(rows * width, 3)
        tops = [work.maximum(row) for row in cut(values, width)]
        sums = [work.exponential_sum(row, top) for row, top in zip(cut(values, width), tops)]
        (maximum, _), (s, _) = c.given(tops), c.given(sums)
        targets, wanted = c.words([3, work.NO_TARGET, 49, 0])
        zipped = list(zip(cut(values, width), tops, sums, wanted))
        if op == "crossEntropy":
            out = c.room(4 * rows)
            yield c.case([x, maximum, s, targets, out, rows, width], out, f32s([work.cross_entropy(*row) for row in zipped]))
        else:
            out = c.room(4 * rows * width)
            found = [work.cross_entropy_backward(*row, 3, f(0.01)) for row in zipped]
            yield c.case([x, maximum, s, targets, out, rows, width, 3, f(0.01)], out, f32s(flat(found)))
    for values in (SPECIAL, [-1.0, 2.0, 2.0, 0.0], [-0.0, 0.0, -0.0], [-5.0]):
        c = Call("argmax", seed)
        x, given = c.given(values)
        out = c.room(4)
        yield c.case([x, out, 1, len(values)], out, u32s([work.argmax(given)]))


def sums(seed):
    for rows, width in ((3, 31), (2, 100), (1, 4096), (1, 4097), (1, 40_000)):
        c = Call("rowSum", seed)
        x, values = c.floats(rows * width)
        out = c.room(4 * rows)
        yield c.case([x, out, rows, width], out, f32s([work.total(row) for row in cut(values, width)]))
    for rows, width, first, columns in ((33, 20, 2, 17), (4100, 3, 1, 2)):
        c = Call("columnSum", seed)
        x, values = c.floats(rows * width)
        out = c.room(4 * columns)
        found = [work.total(values[first + i::width]) for i in range(columns)]
        yield c.case([x, out, rows, width, first, columns], out, f32s(found))
    c = Call("squareSums", seed)
    x, values = c.floats(9000)
    out = c.room(12)
    yield c.case([x, out, 9000], out, f32s(work.square_sums(values)))


def optimisers(seed):
    c = Call("gradientNorm", seed)
    x, values = c.given([1 / 3 + i for i in range(50)])
    out = c.room(4)
    yield c.case([x, out, 50], out, f32s([work.gradient_norm(values)]))
    for n, clip in ((3.7, 1.0), (0.2, 1.0), (1.0, f(0.1))):
        c = Call("clipFactor", seed)
        x, values = c.given([n])
        out = c.room(4)
        yield c.case([x, out, clip], out, f32s([work.clip_factor(values[0], clip)]))
    count, clip = 40, f(0.37)
    for op, rule, beta in (("adamWFirst", work.adamw_first, f(0.9)), ("adamWSecond", work.adamw_second, f(0.95)),
                           ("sgdVelocity", work.sgd_velocity, f(0.9))):
        c = Call(op, seed)
        (m, ms), (g, gs), (k, _) = c.floats(count, -6), c.floats(count, -2), c.given([clip])
        out = c.room(4 * count)
        found = [rule(a, f(b * clip), beta) for a, b in zip(ms, gs)]
        yield c.case([m, g, k, out, count, beta], out, f32s(found))
    c = Call("adamWWeight", seed)
    (w, ws), (m, ms), (v, vs) = c.floats(count, -2), c.floats(count, -6), c.given([i * i * 1e-6 for i in range(count)])
    out = c.room(4 * count)
    numbers = [f(x) for x in (3e-4, 1e-8, 0.1, 0.271, 0.1426)]
    yield c.case([w, m, v, out, count, *numbers], out, f32s([work.adamw_weight(*row, *numbers) for row in zip(ws, ms, vs)]))
    c = Call("sgdWeight", seed)
    (w, ws), (v, vs) = c.floats(count, -2), c.floats(count, -2)
    out = c.room(4 * count)
    yield c.case([w, v, out, count, f(0.02)], out, f32s([work.sgd_weight(a, b, f(0.02)) for a, b in zip(ws, vs)]))


def draws(seed):
    for mean, index in ((0.0, 0), (f(0.04), 2 ** 33 - 3)):
        c = Call("normal", seed)
        out, count, draw, deviation = c.room(4 * 60), 60, (11, 12, 13, 0xFFFFFFFF), f(0.02)
        found = [work.fresh(draw, index + i, deviation, mean) for i in range(count)]
        yield c.case([out, count, deviation, mean, *draw, index], out, f32s(found))
    for windows, first, count in ((1, 0, 1), (2, 0, 2), (5, 0, 5), (16, 0, 16), (1000, 990, 10), (2 ** 32 - 1, 2 ** 32 - 9, 8)):
        c = Call("windowOrder", seed)
        words = tsp1.words_of(seed("work windows"))
        at, _ = c.words(words)
        out = c.room(4 * count)
        found = [work.window(words, 3, windows, first + i) for i in range(count)]
        yield c.case([at, out, 3, windows, first, count], out, u32s(found))
    c = Call("sampleNoise", seed)
    x, values = c.floats(2 * 30, 3)
    (sequences, s), (positions, p) = c.words([5, 2 ** 32 - 1]), c.words([0, 70_000])
    out = c.room(4 * 60)
    found = [work.sample_noise(row, a, b, 2, f(1.25), 21, 22) for row, a, b in zip(cut(values, 30), s, p)]
    yield c.case([x, sequences, positions, out, 2, 30, 2, f(1.25), 21, 22], out, f32s(flat(found)))


def tables(seed):
    c = Call("rotaryFrequencies", seed)
    out = c.room(4 * 32)
    yield c.case([out, 32, 0, 32, 10000.0], out, f32s([work.rotary_frequency(10000.0, i, 32) for i in range(32)]))
    for inverse in (0, 1):
        c = Call("rotary", seed)
        rows, heads, width = 4, 2, 12
        x, values = c.floats(rows * heads * width)
        positions, places = c.words([0, 1, 77_777, 131_071])
        frequency, frequencies = c.given([work.rotary_frequency(500000.0, i, width // 2) for i in range(width // 2)])
        out = c.room(4 * rows * heads * width)
        found = [work.rotary(head, place, frequencies, inverse)
                 for row, place in zip(cut(values, heads * width), places) for head in cut(row, width)]
        yield c.case([x, positions, frequency, out, rows, heads, width, inverse], out, f32s(flat(found)))
    c = Call("embed", seed)
    (tokens, t), (positions, p) = c.words([2, 0, 2]), c.words([1, 0, 3])
    (table, rows), (places, place_rows) = c.floats(3 * 20), c.floats(4 * 20)
    out = c.room(4 * 60)
    found = [[f(a + b) for a, b in zip(cut(rows, 20)[i], cut(place_rows, 20)[j])] for i, j in zip(t, p)]
    yield c.case([tokens, positions, table, places, out, 3, 20, 3, 4], out, f32s(flat(found)))
    c = Call("embedBackward", seed)
    count, kinds, channels, piece = 25, 4, 18, 10
    tokens, t = c.words([(i * i + 1) % 4 if i % 7 else work.NO_TARGET for i in range(count)])
    q, values = c.bytes(channels * count)
    s, scales = c.given([0.01 / (i + 1) for i in range(channels * 3)])
    scratch, out = c.room(64 * kinds), c.room(4 * kinds * channels)
    found = work.embed_backward(t, cut(values, count), cut(scales, 3), kinds, piece)
    yield c.case([tokens, q, s, scratch, out, count, kinds, channels, 0, channels, piece], out, f32s(flat(found)))
    for op, size in (("transposeBytes", 1), ("transposeFloats", 4)):
        c = Call(op, seed)
        x, values = c.bytes(5 * 9 * size)
        out = c.room(5 * 6 * size)
        cells = cut(i8s(values), size)
        yield c.case([x, out, 5, 9, 2, 6], out, b"".join(cells[9 * r + 2 + i] for i in range(6) for r in range(5)))
    c = Call("move", seed)
    x, values = c.bytes(2 * 3 * 4 * 5)
    out = c.room(len(values))
    runs = cut(i8s(values), 5)
    moved = b"".join(runs[(s * 3 + t) * 4 + h] for s in range(2) for h in range(4) for t in range(3))
    yield c.case([x, out, 5, 2, 3, 4, 60, 20, 5, 60, 5, 15], out, moved)


def figures(seed):
    c = Call("fill", seed)
    out = c.room(20)
    yield c.case([out, 5, 0x80000001], out, u32s([0x80000001] * 5))
    c = Call("places", seed)
    out = c.room(4 * 12)
    yield c.case([out, 12, 5, 2 ** 33 + 1], out, u32s([(2 ** 33 + 1 + i) % 5 for i in range(12)]))


def flows(seed):
    """W6. Flags of every sort: walls anywhere, a solid cell, a driven one."""
    def flags_of(count):
        return [1 if i % 11 == 3 else 1 << 19 if i % 13 == 5 else (i * 2654435761 >> 9) & 0x7FFFE if i % 3 == 0 else 0
                for i in range(count)]

    velocity, push = [f(0.05), f(-0.02), f(0.01)], [f(1e-4), f(0), f(-3e-4)]
    for size in ((8, 4, 4), (4, 8, 12)):
        blocks = size[0] * size[1] * size[2] // 64
        c = Call("flow", seed)
        (x, values), (cells, flags) = c.floats(blocks * 19 * 64, -2), c.words(flags_of(64 * blocks))
        out = c.room(4 * len(values))
        made = lattice.step(size, cut(values, 64), cut(flags, 64), f(1.3), velocity, push)
        numbers = [n // 4 for n in size] + [0, blocks, f(1.3)] + velocity + push
        yield c.case([x, cells, out] + numbers, out, f32s(flat(made)))
    for has_field in (False, True):
        c = Call("flowBegin", seed)
        cells, flags = c.words(flags_of(64 * 2))
        field, values = c.floats(2 * 4 * 64, -3) if has_field else (0, [])
        out = c.room(4 * 2 * 19 * 64)
        made = lattice.begin(7, cut(flags, 64), cut(values, 64), velocity, f(0.01), (11, 12))
        yield c.case([cells, field, out, 7, 2] + velocity + [f(0.01), 11, 12], out, f32s(flat(made)))
    for is_energy in (False, True):
        c = Call("flowFigures", seed)
        x, values = c.floats(3 * 19 * 64, -2)
        mass, energy = c.room(12), c.room(12)
        found = lattice.figures(cut(values, 64), work.total)[is_energy]
        yield c.case([x, mass, energy, 3], energy if is_energy else mass, f32s(found))


def drawn_pictures(seed):
    """W7. Five large triangles of every material, and small ones by chance."""
    def triangle(corner, e1, e2):
        v, a, b = [[f(x) for x in part] for part in (corner, e1, e2)]
        return v + a + b + pictures.unit(pictures.cross(a, b), [0.0, 1.0, 0.0])

    chance = tsp1.entries(seed("picture"), 0, "fp32", 0, 9 * 12)
    chance = [x * 2.0 ** -23 for x in chance]
    scene = [triangle((-4, -1, -8), (0, 0, 12), (12, 0, 0)), triangle((1, -1, -3), (1, 0, 0), (0, 2, 0)),
             triangle((-2, -1, -3), (1.5, 0, 0.5), (0, 2, 0)), triangle((-1, -1, -2), (1, 0, 0.25), (0, 1, 0)),
             triangle((-1, 2, -4), (2, 0, 0), (0, 0, 2))]
    scene += [triangle([3 * x for x in chance[i:i + 2]] + [-3.0], chance[i + 3:i + 6], chance[i + 6:i + 9])
              for i in range(0, 108, 9)]
    looks = [[0.75, 0.7, 0.65, 0, 0, 0, 0, 0], [0.9, 0.8, 0.5, 0, 0, 0, 0.2, 1], [1, 1, 1, 0, 0, 0, 0, 2],
             [0.2, 0.3, 0.8, 0, 0, 0, 0, 0], [0, 0, 0, 5, 4, 3, 0, 0]]
    looks = [[f(x) for x in look] for look in looks]
    c = Call("picture", seed)
    kinds = [i % 5 for i in range(len(scene))]
    camera = [0.0, 0.5, 2.0, -0.6, 0.45, -1.0, 0.075, 0.0, 0.0, 0.0, -0.075, 0.0]
    zenith, horizon, epsilon = [0.5, 0.75, 1.0], [f(0.9), f(0.9), 1.0], f(1e-3)
    (triangles, _), (of, _), (materials, _) = c.given(flat(scene)), c.words(kinds), c.given(flat(looks))
    (nodes, _), (eye, camera) = c.given(flat(pictures.flat_tree(scene))), c.given(camera)
    out, rays = c.room(2 * 768), c.room(8)
    data = (scene, kinds, looks, epsilon, zenith, horizon)
    made = [pictures.tile(data, camera, 16, 1, column, 3, 4, (5, 6)) for column in range(2)]
    numbers = [len(scene), len(looks), len(scene), 16, 1, 0, 2, 3, 4, epsilon] + zenith + horizon + [5, 6]
    for at, content in ((out, flat([tile for tile, _ in made])), (rays, [float(count) for _, count in made])):
        yield c.case([triangles, of, materials, nodes, eye, out, rays] + numbers, at, f32s(content))


def trees(seed):
    """W4.1: leaves of up to 1,024 bytes of one row, nodes, and the way from opened leaves to a root."""
    for rows, width in ((1, 1), (2, 55), (2, 63), (1, 1024), (2, 1100)):
        c = Call("leaves", seed)
        x, values = c.bytes(rows * width)
        pieces = [piece for row in cut(i8s(values), width) for piece in cut(row, 1024)]
        out = c.room(32 * len(pieces))
        found = b"".join(hashlib.sha256(b"\0" + piece).digest() for piece in pieces)
        yield c.case([x, out, rows, width], out, found)
    c = Call("nodes", seed)
    x, values = c.bytes(64 * 3)
    out = c.room(96)
    found = b"".join(hashlib.sha256(b"\1" + pair).digest() for pair in cut(i8s(values), 64))
    yield c.case([x, out, 3], out, found)
    for height, places in ((0, [0]), (3, [2, 3, 7]), (33, [1, 2 ** 32, 2 ** 32 + 1, 2 ** 33 - 1])):
        c = Call("climb", seed)
        hashes, own = c.bytes(32 * len(places))
        leaves, _ = c.words([word for place in places for word in (place % 2 ** 32, place // 2 ** 32)])
        beside, others = c.bytes(32 * height * len(places))
        out = c.room(64 * len(places))
        root = root_above(dict(zip(places, cut(i8s(own), 32))), iter(cut(i8s(others), 32)), height)
        yield c.case([hashes, leaves, beside, out, len(places), height], hashes, root)


def root_above(level, others, height):
    """W4.1.3: hashes that are not there come from the others, level by level, left to right."""
    for _ in range(height):
        parents = sorted({place // 2 for place in level})
        pairs = [[level.get(2 * parent + side) or next(others) for side in (0, 1)] for parent in parents]
        level = {parent: hashlib.sha256(b"\1" + b"".join(pair)).digest() for parent, pair in zip(parents, pairs)}
    return level[0]


def faults(seed):
    """An answer of 1; what is written does not matter."""
    for op, bad in (("faultyFloats", 0x7F800000), ("faultyFloats", 0xFF800001), ("faultyFloats", 0x7FC00000)):
        c = Call(op, seed)
        x, _ = c.words([0x7F7FFFFF, 0, bad, 0x80000000])
        yield c.case([x, 4], x, b"", 1)
        yield c.case([x, 2], x, b"")
    c = Call("faultyBytes", seed)
    x = c.raw(i8s([127, -127, 0, -128]))
    yield c.case([x, 4], x, b"", 1)
    yield c.case([x, 3], x, b"")
    c = Call("rowScale", seed)
    x, _ = c.words([0x7F800000, 0])
    out = c.room(4)
    yield c.case([x, 0, out, 1, 2, 2, 0, 1], out, b"", 1)
    c = Call("add", seed)
    x, _ = c.words([0x7F7FFFFF])
    yield c.case([x, x, x, 1], x, b"", 1)


def cases(seed):
    groups = (products, quantised, elements, norms, attention, losses, sums, optimisers, draws, tables, figures,
              flows, drawn_pictures, trees, faults)
    return [case for group in groups for case in group(seed)]
