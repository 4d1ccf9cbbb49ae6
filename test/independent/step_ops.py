"""The ops of a transition of training (W2, by work.py) over whole tensors, and the patches of those that sequences share.

A tensor is a Tensor: its shape (type, rows, width) and its entries row by row. Numbers are those of the step; `lane` says
which lane of the draw an element has, `first` which row the first one is where a row sees only some of its width.
"""
import math
import struct

import work
from work import f

LETTERS = {"i8": "b", "i32": "i", "u32": "I", "f32": "f"}
SIZES = {"i8": 1, "i32": 4, "u32": 4, "f32": 4}
CHUNK = 256


class Fault(Exception):
    """W2.6: something was written that is no number, or looked up where nothing is."""


class Tensor:
    def __init__(self, shape, entries):
        self.shape, self.entries = tuple(shape), list(entries)

    def row_list(self):
        width = self.shape[2]
        return [self.entries[at:at + width] for at in range(0, len(self.entries), width)]

    def region(self, place):
        row, rows, column, columns = place
        lines = self.row_list()[row:row + rows]
        return Tensor((self.shape[0], rows, columns), [x for line in lines for x in line[column:column + columns]])

    def spell(self):
        return struct.pack("<%d%s" % (len(self.entries), LETTERS[self.shape[0]]), *self.entries)


def read(shape, data):
    return Tensor(shape, struct.unpack("<%d%s" % (shape[1] * shape[2], LETTERS[shape[0]]), data))


def flat(lines):
    return [x for line in lines for x in line]


def turned(tensor, batch=1):
    kind, rows, width = tensor.shape
    each, lines = rows // batch, tensor.row_list()
    out = [list(column) for b in range(batch) for column in zip(*lines[b * each:(b + 1) * each])]
    return Tensor((kind, width * batch, each), flat(out))


def embed(inputs, n):
    tables = [(inputs[i], inputs[i + 1].row_list()) for i in range(0, len(inputs), 2)]
    if any(at >= len(table) for places, table in tables for at in places.entries):
        raise Fault
    found = [[table[at] for at in places.entries] for places, table in tables]
    return flat(found[0]) if len(found) == 1 else flat([f(a + b) for a, b in zip(*pair)] for pair in zip(*found))


def vectors(tensor, lines, n):
    """The vector of every row: shared by `rowsEach` rows in a row, or by all."""
    each = n.get("rowsEach", len(lines))
    return [tensor.row_list()[i // each] if tensor else None for i in range(len(lines))]


def row_scale(inputs, n):
    lines, out = inputs[0].row_list(), []
    piece = n.get("piece", len(lines[0]))
    for line, fold in zip(lines, vectors(inputs[1] if len(inputs) > 1 else None, lines, n)):
        out += [work.row_scale(line[at:at + piece], fold and fold[at:at + piece]) for at in range(0, len(line), piece)]
    return out


def quantise(inputs, n):
    lines, scales, out = inputs[0].row_list(), inputs[1].row_list(), []
    width = len(lines[0])
    piece = n.get("piece", width)
    lane = n.get("lane", lambda i, j: i * width + j)
    for i, (line, fold) in enumerate(zip(lines, vectors(inputs[2] if len(inputs) > 2 else None, lines, n))):
        for at in range(0, width, piece):
            part, folded, scale = line[at:at + piece], fold and fold[at:at + piece], scales[i][at // piece]
            if "key" in n:
                draw = (*n["key"], n["tensor"], n["transition"])
                out += work.quantise_stochastic(part, scale, draw, lane(i, at), folded)
            else:
                out += work.quantise(part, scale, folded)
    return out


def dequantise(inputs, n):
    lines, more = inputs[0].row_list(), list(inputs[2:])
    columns = vectors(more.pop(0) if n.get("hasColumns") else None, lines, n)
    bias = more[0].entries if n.get("hasBias") else None
    return flat(work.dequantise(line, scale, by, n.get("factor", 1.0), bias)
                for line, scale, by in zip(lines, inputs[1].entries, columns))


def batches(inputs, n):
    batch, shared = n.get("batch", 1), n.get("shared", 1)
    a, b = inputs[0].row_list(), inputs[-1].row_list()
    rows, columns = len(a) // batch, len(b) * shared // batch
    for i in range(batch):
        yield slice(i * rows, (i + 1) * rows), a[i * rows:(i + 1) * rows], b[i // shared * columns:][:columns]


def product(inputs, n):
    mask = {0: "none", 1: "result", 2: "operand"}[n.get("mask", 0)]
    return flat(flat(work.product(a, b, mask) for _, a, b in batches(inputs, n)))


def product_pieces(inputs, n):
    scales = inputs[1].row_list()
    return flat(flat(work.product_pieces(a, scales[at], b, n["piece"]) for at, a, b in batches(inputs, n)))


def move_heads(inputs, n, is_split):
    """W2.11.2: [sequence][token][head][number] and [sequence][head][token][number]."""
    tokens, heads, size = n["tokens"], n["heads"], n["size"]
    cells = [inputs[0].entries[at:at + size] for at in range(0, len(inputs[0].entries), size)]
    out = []
    for s in range(len(cells) // tokens // heads):
        if is_split:
            out += [cells[(s * tokens + t) * heads + h] for h in range(heads) for t in range(tokens)]
        else:
            out += [cells[(s * heads + h) * tokens + t] for t in range(tokens) for h in range(heads)]
    return flat(out)


def by_rows(rule):
    """An op over rows: its other inputs have a row for each, or one for all."""
    def run(inputs, n):
        lines = [x.row_list() for x in inputs]
        count = len(lines[0])
        return flat(rule(*(x[i] if len(x) == count else x[0] for x in lines), n=n, row=i) for i in range(count))
    return run


def seen(rule, is_filled=True):
    """W2.7.3: a row under a period, with as much of every input as it sees; what it does not see is written as +0."""
    def of_row(*rows, n, row):
        width = len(rows[0])
        count = work.seen(row, n.get("period", 0), n.get("first", 0), width)
        found = rule(*(x[:count] if len(x) == width else x for x in rows))
        return found + [0.0] * (width - count) if is_filled else [found]
    return by_rows(of_row)


def cross_entropy_backward(x, top, total, target, n, row):
    if target[0] >= len(x) and target[0] != work.NO_TARGET:
        raise Fault
    return work.cross_entropy_backward(x, top[0], total[0], target[0], 0, n["factor"])


def cross_entropy(x, top, total, target, n, row):
    if target[0] >= len(x) and target[0] != work.NO_TARGET:
        raise Fault
    return [work.cross_entropy(x, top[0], total[0], target[0])]


def elements(rule):
    return lambda inputs, n: [rule(*values) for values in zip(*(x.entries for x in inputs))]


def moment(rule, name):
    return lambda inputs, n: [rule(m, f(g * inputs[2].entries[0]), n[name])
                              for m, g in zip(inputs[0].entries, inputs[1].entries)]


def adamw_weight(inputs, n):
    numbers = [n[name] for name in ("rate", "epsilon", "decay", "correction1", "correction2")]
    return [work.adamw_weight(*values, *numbers) for values in zip(*(x.entries for x in inputs))]


def embed_backward(inputs, n):
    tokens, q, scales = inputs
    kinds = [n["kind"]] if "kind" in n else range(n["kinds"])
    own = {kind: i for i, kind in enumerate(kinds)}
    named = [own.get(token, -1) for token in tokens.entries]
    return flat(work.embed_backward(named, q.row_list(), scales.row_list(), len(own), n["piece"]))


def rotary(x, place, frequencies, n, row):
    size = 2 * len(frequencies)
    heads = [x[at:at + size] for at in range(0, len(x), size)]
    return flat(work.rotary(head, place[0], frequencies, n["inverse"]) for head in heads)


NONE = [None]
RUN = {
    "windowOrder": lambda i, n: [work.window(n["seed"], n["epoch"], n["windows"], n["first"] + at) for at in range(n["count"])],
    "frequencies": lambda i, n: [work.rotary_frequency(n["base"], at, n["half"]) for at in range(n["half"])],
    "places": lambda i, n: [at % n["period"] for at in range(n["rows"] * n["width"])],
    "embed": embed,
    "cut": lambda i, n: flat(line[n["column"]:n["column"] + n["columns"]] for line in i[0].row_list()),
    "reshape": lambda i, n: list(i[0].entries),
    "transpose": lambda i, n: turned(i[0], n.get("batch", 1)).entries,
    "splitHeads": lambda i, n: move_heads(i, n, True), "joinHeads": lambda i, n: move_heads(i, n, False),
    "rowMean": by_rows(lambda x, n, row: [work.row_mean(x)]),
    "normInverse": by_rows(lambda x, mean=NONE, *, n, row: [work.norm_inverse(x, mean[0], n["epsilon"])]),
    "norm": by_rows(lambda x, inverse, gain, mean=NONE, shift=None, *, n, row: work.norm(x, mean[0], inverse[0], gain, shift)),
    "normBackward": by_rows(
        lambda x, inverse, gain, dy, mean=NONE, *, n, row: work.norm_backward(x, mean[0], inverse[0], gain, dy)),
    "normGainTerms": by_rows(
        lambda x, inverse, dy, mean=NONE, *, n, row: work.norm_gain_terms(x, mean[0], inverse[0], dy)),
    "rowMaximum": seen(work.maximum, False),
    "exponentialSum": seen(lambda x, top: work.exponential_sum(x, top[0]), False),
    "exponential": seen(lambda x, top: work.exponential(x, top[0])),
    "exponentialBackward": seen(lambda e, d, t: work.exponential_backward(e, d, t[0])),
    "rowSum": by_rows(lambda x, n, row: [work.total(x)]),
    "rowDot": by_rows(lambda a, b, n, row: [work.row_dot(a, b)]),
    "divideRows": by_rows(lambda x, by, n, row: work.divide_row(x, by[0])),
    "crossEntropy": by_rows(cross_entropy), "crossEntropyBackward": by_rows(cross_entropy_backward),
    "rowScale": row_scale, "quantise": quantise, "dequantise": dequantise,
    "product": product, "productPieces": product_pieces,
    "gelu": elements(work.gelu), "geluBackward": elements(lambda x, d: f(d * work.gelu_slope(x))),
    "rotary": by_rows(rotary),
    "relu": elements(work.relu), "reluBackward": elements(lambda x, d: d if x > 0 else 0.0),
    "siluProduct": elements(lambda g, u: f(work.silu(g) * u)),
    "siluProductBackwardUp": elements(lambda g, d: f(d * work.silu(g))),
    "siluProductBackwardGate": elements(lambda g, u, d: f(f(d * u) * work.silu_slope(g))),
    "add": elements(lambda a, b: f(a + b)), "scale": lambda i, n: [f(x * n["factor"]) for x in i[0].entries],
    "embedBackward": embed_backward,
    "squareSums": lambda i, n: work.square_sums(i[0].entries[n.get("skipped", 0):][:n.get("count", len(i[0].entries))]),
    "gradientNorm": lambda i, n: [work.gradient_norm([x.entries[0] for x in i])],
    "clipFactor": lambda i, n: [work.clip_factor(i[0].entries[0], n["clip"])],
    "adamWFirst": moment(work.adamw_first, "beta1"), "adamWSecond": moment(work.adamw_second, "beta2"),
    "adamWWeight": adamw_weight,
    "sgdVelocity": moment(work.sgd_velocity, "momentum"),
    "sgdWeight": lambda i, n: [work.sgd_weight(w, v, n["rate"]) for w, v in zip(i[0].entries, i[1].entries)],
}


def run(op, inputs, numbers, shape):
    try:
        made = Tensor(shape, RUN[op](inputs, numbers))
    except (OverflowError, ValueError):
        raise Fault from None
    if shape[0] == "f32" and not all(math.isfinite(x) for x in made.entries):
        raise Fault
    return made


# W4.3.5: of each op, how many patches; of one of them, the region it makes, those it reads, and other numbers.
def chunks(shape):
    return shape[1] * -(-shape[2] // CHUNK)


def chunk(shape, index):
    across = -(-shape[2] // CHUNK)
    column = index % across * CHUNK
    return index // across, 1, column, min(CHUNK, shape[2] - column)


def alike(inputs, out, n, index):
    place = chunk(out, index)
    return place, [place if shape == inputs[0] else (0, 1, 0, 1) for shape in inputs], {}


def scale_patch(inputs, out, n, index):
    row, piece = index // out[2], n.get("piece", inputs[0][2])
    at = index % out[2] * piece
    columns = (at, min(piece, inputs[0][2] - at))
    fold = [(row // n.get("rowsEach", inputs[0][1]), 1, *columns)] if len(inputs) > 1 else []
    return (row, 1, index % out[2], 1), [(row, 1, *columns)] + fold, {"piece": piece, "rowsEach": 1}


def quantise_patch(inputs, out, n, index):
    place = row, _, column, columns = chunk(out, index)
    assert "piece" not in n and len(inputs) == 2
    return place, [place, (row, 1, 0, 1)], {"lane": lambda i, j: (row + i) * out[2] + column + j}


def dequantise_patch(inputs, out, n, index):
    place = chunk(out, index)
    assert not n
    return place, [place, (place[0], 1, 0, 1)], {}


def row_patch(inputs, out, n, index):
    return (index, 1, 0, 1), [(index, 1, 0, inputs[0][2])], {}


def table_patch(inputs, out, n, index):
    tokens, q, scales = inputs
    kind, channel = divmod(index, out[2])
    return ((kind, 1, channel, 1), [(0, tokens[1], 0, 1), (channel, 1, 0, q[2]), (channel, 1, 0, scales[2])],
            {"kind": kind})


def square_patch(inputs, out, n, index):
    width, first = inputs[0][2], index * work.PIECE
    count = min(work.PIECE, inputs[0][1] * width - first)
    row, last = first // width, (first + count - 1) // width
    return ((0, 1, index, 1), [(row, last - row + 1, 0, width)], {"skipped": first - row * width, "count": count})


ELEMENT = lambda out: out[1] * out[2]
PATCHES = {
    **{op: (chunks, alike) for op in ("add", "scale", "adamWFirst", "adamWSecond", "adamWWeight", "sgdVelocity", "sgdWeight")},
    "rowScale": (ELEMENT, scale_patch), "quantise": (chunks, quantise_patch), "dequantise": (chunks, dequantise_patch),
    "rowSum": (lambda out: out[1], row_patch), "embedBackward": (ELEMENT, table_patch),
    "squareSums": (lambda out: out[2], square_patch),
}
