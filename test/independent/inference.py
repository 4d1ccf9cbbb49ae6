"""Inference, docs/spec/work.md section W9, from the text: each sequence by itself, one token after the other."""
import hashlib
import struct

import work
from work import f


def stream(label):
    """Bytes that look random, without end."""
    number = 0
    while True:
        yield from hashlib.sha256(label.encode() + struct.pack("<I", number)).digest()
        number += 1


def ints(label, rows, width):
    entries = stream(label)
    return [[next(entries) % 255 - 127 for _ in range(width)] for _ in range(rows)]


def floats(label, rows, width, size, middle=0.0):
    """Multiples of size / 128 around the middle: binary32 numbers as they are."""
    entries = stream(label)
    return [[middle + (next(entries) - 128) * size / 128 for _ in range(width)] for _ in range(rows)]


class Matrix:
    def __init__(self, name, outputs, inputs, has_bias):
        self.rows = ints(name + ".weight", outputs, inputs)
        self.scales = floats(name + ".scales", 1, outputs, 2.0 ** -11, 2.0 ** -9)[0]
        self.bias = floats(name + ".bias", 1, outputs, 0.25)[0] if has_bias else None

    def __call__(self, x):
        scale = work.row_scale(x)
        q = work.quantise(x, scale)
        sums = [sum(a * b for a, b in zip(q, row)) for row in self.rows]
        return work.dequantise(sums, scale, self.scales, 1.0, self.bias)


class Model:
    def __init__(self, said):
        self.__dict__.update(said)
        gpt = self.family == "gpt"
        width, size = self.width, self.headSize
        self.embed = floats("embed", self.vocabulary, width, 1.0)
        self.table = floats("positions", self.context, width, 0.5) if gpt else None
        self.norms = {}
        self.matrices = {}
        for i in range(self.layers):
            rows = (self.heads + 2 * self.keyHeads) * size
            shapes = [("qkv", rows, width, self.hasQkvBias), ("o", width, self.heads * size, gpt)]
            shapes += [] if gpt else [("gate", self.hidden, width, False)]
            shapes += [("up", self.hidden, width, gpt), ("down", width, self.hidden, gpt)]
            for name, outputs, inputs, has_bias in shapes:
                full = "%d.%s" % (i, name)
                self.matrices[full] = Matrix(full, outputs, inputs, has_bias)
            for name in ("norm1", "norm2"):
                self.add_norm("%d.%s" % (i, name), gpt)
        self.add_norm("final", gpt)
        self.matrices["head"] = Matrix("head", self.vocabulary, width, False)
        half = size // 2
        base = work.from_bits(self.rotaryBase)
        self.frequencies = None if gpt else [work.rotary_frequency(base, i, half) for i in range(half)]

    def add_norm(self, name, gpt):
        gain = floats(name + ".gain", 1, self.width, 0.5, 1.0)[0]
        self.norms[name] = (gain, floats(name + ".shift", 1, self.width, 0.5)[0] if gpt else None)

    def norm(self, name, x):
        gain, shift = self.norms[name]
        mean = work.row_mean(x) if shift else None
        return work.norm(x, mean, work.norm_inverse(x, mean, work.from_bits(self.epsilon)), gain, shift)

    def turned(self, head, place):
        return work.rotary(head, place, self.frequencies, False) if self.frequencies else head


# W2.8.12
PIECE = 64


def quantised(x, fold=None):
    scale = work.row_scale(x, fold)
    return work.quantise(x, scale, fold), scale


class Sequence:
    """The cache of one sequence: by layer and head of keys, (bytes, scale) of every place."""

    def __init__(self, model):
        self.model = model
        self.keys = [[[] for _ in range(model.keyHeads)] for _ in range(model.layers)]
        self.values = [[[] for _ in range(model.keyHeads)] for _ in range(model.layers)]

    def logits(self, token, place):
        m = self.model
        x = m.embed[token]
        if m.table:
            x = [f(a + b) for a, b in zip(x, m.table[place])]
        for i in range(m.layers):
            x = self.layer(i, x, place)
        return m.matrices["head"](m.norm("final", x))

    def layer(self, i, x, place):
        m = self.model
        at = lambda name: m.matrices["%d.%s" % (i, name)]
        heads = self.split(at("qkv")(m.norm("%d.norm1" % i, x)))
        y = [f(a + b) for a, b in zip(x, at("o")(self.attend(i, heads, place)))]
        normed = m.norm("%d.norm2" % i, y)
        if m.family == "gpt":
            active = [work.gelu(u) for u in at("up")(normed)]
        else:
            active = [f(work.silu(g) * u) for g, u in zip(at("gate")(normed), at("up")(normed))]
        return [f(a + b) for a, b in zip(y, at("down")(active))]

    def split(self, row):
        size = self.model.headSize
        return [row[at:at + size] for at in range(0, len(row), size)]

    def attend(self, i, heads, place):
        m = self.model
        for h in range(m.keyHeads):
            self.keys[i][h].append(quantised(m.turned(heads[m.heads + h], place)))
            self.values[i][h].append(quantised(heads[m.heads + m.keyHeads + h]))
        factor = f(m.headSize ** -0.5)
        out = []
        for h in range(m.heads):
            keys, values = (of[i][h * m.keyHeads // m.heads] for of in (self.keys, self.values))
            q, scale = quantised(m.turned(heads[h], place))
            scale = f(scale * factor)
            scores = [f(f(f(sum(a * b for a, b in zip(q, k))) * scale) * s) for k, s in keys]
            weights = work.exponential(scores, work.maximum(scores))
            pieces = range(0, len(scores), PIECE)
            rounded = [quantised(weights[n:n + PIECE], [s for _, s in values[n:n + PIECE]]) for n in pieces]
            r, scales = [x for q, _ in rounded for x in q], [s for _, s in rounded]
            columns = [[v[j] for v, _ in values] for j in range(m.headSize)]
            out += work.divide_row(work.product_pieces([r], [scales], columns, PIECE)[0], work.total(weights))
        return out


def go_on(model, number, prompt, total, sampling, seed_words):
    sequence, tokens = Sequence(model), list(prompt)
    for place in range(total - 1):
        logits = sequence.logits(tokens[place], place)
        if place + 1 == len(tokens):
            if sampling:
                key0, key1 = sampling["key"] or seed_words[:2]
                factor = work.from_bits(sampling["factor"])
                logits = work.sample_noise(logits, number, place + 1, 0, factor, key0, key1)
            tokens.append(work.argmax(logits))
    return tokens, sequence


def state_bytes(model, results):
    """Tokens, then layer by layer keys, their scales, values, their scales."""
    out = b"".join(struct.pack("<I", token) for tokens, _ in results for token in tokens)
    for i in range(model.layers):
        for part in ("keys", "values"):
            rows = [row for _, sequence in results for row in getattr(sequence, part)[i]]
            out += b"".join(struct.pack("%db" % len(q), *q) for row in rows for q, _ in row)
            out += b"".join(struct.pack("<f", s) for row in rows for _, s in row)
    return out


SMALL = {"layers": 2, "width": 16, "heads": 4, "headSize": 8, "hidden": 40, "vocabulary": 60, "context": 24}
EPSILON = 0x3727C5AC
MODELS = {
    "gpt2": {**SMALL, "family": "gpt", "keyHeads": 4, "rotaryBase": 0, "hasQkvBias": True, "epsilon": EPSILON},
    "llama": {**SMALL, "family": "llama", "keyHeads": 4, "rotaryBase": work.bits(10000.0), "hasQkvBias": False,
              "epsilon": EPSILON},
    "qwen2": {**SMALL, "family": "llama", "keyHeads": 2, "rotaryBase": work.bits(1000000.0), "hasQkvBias": True,
              "epsilon": work.bits(f(1e-6))},
}
PROMPTS = [[7, 3, 59, 0, 21], [44, 44, 2], [10, 31]]


def cases(seed_of):
    found = []
    seed_words = struct.unpack("<8I", seed_of("inference"))
    ways = [None, {"factor": work.bits(f(1 / 0.8)), "key": None}, {"factor": work.bits(4.0), "key": [5, 6]}]
    for (name, said), sampling in zip(MODELS.items(), ways):
        model, total = Model(said), 12
        for way in (None, sampling) if sampling else (None,):
            results = [go_on(model, i, prompt, total, way, seed_words) for i, prompt in enumerate(PROMPTS)]
            found.append({"name": name, "model": said, "prompts": PROMPTS, "total": total, "sampling": way,
                          "seed": seed_of("inference").hex(), "tokens": [tokens for tokens, _ in results],
                          "state": hashlib.sha256(state_bytes(model, results)).hexdigest()})
    return found
