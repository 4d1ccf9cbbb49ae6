"""W13 of docs/spec/work.md: the steps of a transition of training, with the shape of every tensor."""
import struct

import work
from work import f

PIECE, HEAD_PIECE = 8192, 64


class Step:
    def __init__(self, op, inputs, output, numbers):
        self.op, self.inputs, self.output, self.numbers = op, inputs, output, numbers


def joined(heads):
    return lambda shapes, n: (shapes[0][0], shapes[0][1] * n["heads"], n["size"]) if heads else (
        shapes[0][0], shapes[0][1] // n["heads"], n["heads"] * n["size"])


def pieces(shapes, n):
    return -(-shapes[0][2] // n.get("piece", shapes[0][2]))


def columns_of(b, n):
    return b[1] * n.get("shared", 1) // n.get("batch", 1)


# The shape of what an op makes, as (type, rows, width); where none is named, that of its first input.
SHAPES = {
    "windowOrder": lambda s, n: ("u32", n["count"], 1),
    "places": lambda s, n: ("u32", n["rows"], n["width"]),
    "frequencies": lambda s, n: ("f32", n["rows"], n["width"]),
    "embed": lambda s, n: (s[1][0], s[0][1], s[1][2]),
    "cut": lambda s, n: (s[0][0], s[0][1] * n["columns"] // n["width"], n["width"]),
    "reshape": lambda s, n: (s[0][0], s[0][1] * s[0][2] // n["width"], n["width"]),
    "transpose": lambda s, n: (s[0][0], s[0][2] * n.get("batch", 1), s[0][1] // n.get("batch", 1)),
    "splitHeads": joined(True), "joinHeads": joined(False),
    "rowScale": lambda s, n: ("f32", s[0][1], pieces(s, n)),
    "quantise": lambda s, n: ("i8",) + s[0][1:],
    "dequantise": lambda s, n: ("f32",) + s[0][1:],
    "product": lambda s, n: ("i32", s[0][1], columns_of(s[1], n)),
    "productPieces": lambda s, n: ("f32", s[0][1], columns_of(s[2], n)),
    "embedBackward": lambda s, n: ("f32", n["kinds"], s[1][1]),
    "squareSums": lambda s, n: ("f32", 1, -(-s[0][1] * s[0][2] // work.PIECE)),
    **{op: lambda s, n: ("f32", s[0][1], 1) for op in (
        "rowMean", "normInverse", "rowMaximum", "exponentialSum", "rowSum", "rowDot", "crossEntropy")},
}


class Program:
    """Steps one after the other; a tensor is called by what makes it and how many such there were."""

    def __init__(self):
        self.shapes, self.steps, self.there, self.counts, self.rounded = {}, [], [], {}, 0

    def given(self, name, *shape):
        self.there.append(name)
        self.shapes[name] = shape

    def step(self, op, *inputs, name=None, **numbers):
        name = name or op
        self.counts[name] = self.counts.get(name, 0) + 1
        return self.write(op, inputs, "%s#%d" % (name, self.counts[name]), numbers)

    def write(self, op, inputs, output, numbers):
        shapes = [self.shapes[name] for name in inputs]
        self.shapes[output] = SHAPES[op](shapes, numbers) if op in SHAPES else shapes[0]
        self.steps.append(Step(op, list(inputs), output, numbers))
        return output

    def rows(self, name):
        return self.shapes[name][1]

    def as_row(self, name):
        return self.step("reshape", name, width=self.rows(name))


def parameters(model):
    """Names and shapes of the weights in file order."""
    if model["family"] == "mlp":
        sizes = model["sizes"]
        return [x for i, (into, out) in enumerate(zip(sizes, sizes[1:]))
                for x in (("layers.%d.weight" % i, out, into), ("layers.%d.bias" % i, 1, out))]
    wide, hidden, is_gpt = model["width"], model["hidden"], model["family"] == "gpt"
    inner = model["heads"] * model["headSize"]
    norm = lambda name: [(name + part, 1, wide) for part in ((".gain", ".shift") if is_gpt else (".gain",))]

    def linear(name, out, into, has_bias=is_gpt):
        return [(name + ".weight", out, into)] + ([(name + ".bias", 1, out)] if has_bias else [])
    found = [("embed", model["vocabulary"], wide)] + ([("positions", model["context"], wide)] if is_gpt else [])
    for i in range(model["layers"]):
        at = "layers.%d." % i
        found += norm(at + "norm1") + [x for part in "qkv" for x in linear(at + part, inner, wide, is_gpt or model["hasQkvBias"])]
        found += linear(at + "o", wide, inner) + norm(at + "norm2")
        found += ([] if is_gpt else linear(at + "gate", hidden, wide)) + linear(at + "up", hidden, wide)
        found += linear(at + "down", wide, hidden)
    return found + norm("final") + ([] if model["isTied"] else linear("head", model["vocabulary"], wide, False))


class Pass:
    """What both ways through a model are made of; gradients by the names of the weights."""

    def __init__(self, program, draw):
        self.p, self.draw, self.gradients, self.rounds = program, draw, {}, 0

    def by_chance(self):
        self.rounds += 1
        return {**self.draw, "tensor": self.rounds - 1}

    def rounded(self, x, fold=None, chance=False, **numbers):
        inputs = [fold] if fold else []
        scales = self.p.step("rowScale", x, *inputs, **numbers)
        return self.p.step("quantise", x, scales, *inputs, **numbers, **(self.by_chance() if chance else {})), scales

    def linear(self, x, weight, bias):
        """x is rounded. What comes of it, and what the way back needs."""
        w, scales = self.rounded(weight)
        sums = self.p.step("product", x[0], w)
        columns, biases = self.p.as_row(scales), [bias] if bias in self.p.shapes else []
        more = {"hasBias": 1} if biases else {}
        y = self.p.step("dequantise", sums, x[1], columns, *biases, hasColumns=1, **more)
        return y, (x, (w, scales), weight, biases)

    def turned_gradient(self, turned, fold=None):
        return self.rounded(turned, fold, True, piece=PIECE)

    def column_sum(self, turned):
        return self.p.as_row(self.p.step("rowSum", turned))

    def linear_back(self, trail, dy, turned_x=None, is_last=False):
        p, ((x, xs), (w, ws), weight, biases) = self.p, trail
        turned_x = turned_x or p.step("transpose", x)
        turned, dx = p.step("transpose", dy), None
        g, gs = self.turned_gradient(turned, p.as_row(xs))
        if not is_last:
            d, ds = self.rounded(dy, p.as_row(ws), True)
            dx = p.step("dequantise", p.step("product", d, p.step("transpose", w)), ds)
        self.gradients[weight] = p.step("productPieces", g, gs, turned_x, piece=PIECE)
        for bias in biases:
            self.gradients[bias] = self.column_sum(turned)
        return dx, turned_x


class MlpPass(Pass):
    def forward(self, sizes, x):
        self.trails = []
        for i in range(len(sizes) - 1):
            x = self.p.step("relu", x) if i else x
            x, trail = self.linear(self.rounded(x), "layers.%d.weight" % i, "layers.%d.bias" % i)
            self.trails.append((x, trail))
        return x

    def backward(self, dy):
        for i in reversed(range(len(self.trails))):
            dx, _ = self.linear_back(self.trails[i][1], dy, None, i == 0)
            dy = self.p.step("reluBackward", self.trails[i - 1][0], dx) if i else None


class DecoderPass(Pass):
    def __init__(self, program, draw, model, sequences, tokens):
        super().__init__(program, draw)
        self.model, self.is_gpt, self.frequencies = model, model["family"] == "gpt", None
        self.heads, self.size = model["heads"], model["headSize"]
        self.all, self.tokens, self.batch = sequences * tokens, tokens, sequences * model["heads"]
        self.factor = f(1 / self.size ** 0.5)

    # Forward.
    def norm(self, name, x):
        means = [self.p.step("rowMean", x)] if self.is_gpt else []
        inverse = self.p.step("normInverse", x, *means, epsilon=f(1e-5))
        shifts = [name + ".shift"] if self.is_gpt else []
        return self.p.step("norm", x, inverse, name + ".gain", *means, *shifts), (name, x, means, inverse)

    def placed(self, x, inverse=0):
        if self.is_gpt:
            return x
        half = self.size // 2
        self.frequencies = self.frequencies or self.p.step(
            "frequencies", rows=1, width=half, half=half, base=work.from_bits(self.model["rotaryBase"]))
        return self.p.step("rotary", x, self.places, self.frequencies, heads=self.heads, inverse=inverse)

    def split(self, x):
        return self.p.step("splitHeads", x, tokens=self.tokens, heads=self.heads, size=self.size)

    def join(self, x):
        return self.p.step("joinHeads", x, tokens=self.tokens, heads=self.heads, size=self.size)

    def attention(self, q, k, v):
        p, seen = self.p, {"period": self.tokens}
        (q, qs), (k, ks), (v, vs) = (self.rounded(self.split(x)) for x in (q, k, v))
        sums = p.step("product", q, k, batch=self.batch, shared=1, mask=1)
        query = p.step("scale", qs, factor=self.factor)
        scores = p.step("dequantise", sums, query, p.step("reshape", ks, width=self.tokens), hasColumns=1, rowsEach=self.tokens)
        fold = p.step("reshape", vs, width=self.tokens)
        turned = p.step("transpose", v, batch=self.batch)
        e = p.step("exponential", scores, p.step("rowMaximum", scores, **seen), **seen)
        total = p.step("rowSum", e)
        r, rs = self.rounded(e, fold, rowsEach=self.tokens, piece=HEAD_PIECE)
        y = p.step("productPieces", r, rs, turned, batch=self.batch, shared=1, piece=HEAD_PIECE)
        y = p.step("divideRows", y, total)
        return self.join(y), ((q, query), (k, ks), (v, vs), e, total, y)

    def layer(self, i, x):
        at = "layers.%d." % i
        linear = lambda x, name: self.linear(x, at + name + ".weight", at + name + ".bias")
        trail = {}
        normed, trail["norm1"] = self.norm(at + "norm1", x)
        normed = self.rounded(normed)
        heads = []
        for part in "qkv":
            y, trail[part] = linear(normed, part)
            heads.append(y if part == "v" else self.placed(y))
        y, trail["attention"] = self.attention(*heads)
        y, trail["o"] = linear(self.rounded(y), "o")
        x = self.p.step("add", x, y)
        normed, trail["norm2"] = self.norm(at + "norm2", x)
        normed = self.rounded(normed)
        if not self.is_gpt:
            trail["gated"], trail["gate"] = linear(normed, "gate")
        trail["upper"], trail["up"] = linear(normed, "up")
        active = self.p.step("gelu", trail["upper"]) if self.is_gpt else self.p.step("siluProduct", trail["gated"], trail["upper"])
        y, trail["down"] = linear(self.rounded(active), "down")
        return self.p.step("add", x, y), trail

    def forward(self, tokens):
        self.inputs, self.places = tokens, self.p.step("places", rows=self.all, width=1, period=self.tokens)
        x = self.p.step("embed", tokens, "embed", *([self.places, "positions"] if self.is_gpt else []))
        self.layers = []
        for i in range(self.model["layers"]):
            x, trail = self.layer(i, x)
            self.layers.append(trail)
        x, self.final = self.norm("final", x)
        logits, self.head = self.linear(self.rounded(x), "embed" if self.model["isTied"] else "head.weight", None)
        return logits

    # Back.
    def norm_back(self, trail, dy):
        p, (name, x, means, inverse) = self.p, trail
        terms = p.step("normGainTerms", x, inverse, dy, *means)
        dx = p.step("normBackward", x, inverse, name + ".gain", dy, *means)
        self.gradients[name + ".gain"] = self.column_sum(p.step("transpose", terms))
        if self.is_gpt:
            self.gradients[name + ".shift"] = self.column_sum(p.step("transpose", dy))
        return dx

    def attention_back(self, trail, dy):
        p, ((q, query), (k, ks), (v, vs), e, total, y) = self.p, trail
        wide, many = {"width": self.tokens}, {"batch": self.batch}
        split = self.split(dy)
        d, ds = self.rounded(split, None, True)
        dot = p.step("rowDot", split, y)
        sums = p.step("product", d, v, batch=self.batch, mask=1)
        shares = p.step("dequantise", sums, ds, p.step("reshape", vs, **wide), hasColumns=1, rowsEach=self.tokens)
        g = p.step("exponentialBackward", e, shares, dot, period=self.tokens)
        in_pieces = {"rowsEach": self.tokens, "piece": HEAD_PIECE}

        def product(x, fold, by):
            r, rs = self.rounded(x, fold, True, **in_pieces)
            return p.step("productPieces", r, rs, p.step("transpose", by, **many), **many, piece=HEAD_PIECE)
        fold = p.step("reshape", p.step("scale", ks, factor=self.factor), **wide)
        dq = self.join(p.step("divideRows", product(g, fold, k), total))
        turned = p.step("transpose", g, **many)
        dk = self.join(product(turned, p.step("reshape", p.step("divideRows", query, total), **wide), q))
        turned = p.step("transpose", e, **many)
        dv = self.join(product(turned, p.step("reshape", p.step("divideRows", ds, total), **wide), d))
        return dq, dk, dv

    def layer_back(self, trail, dx):
        p = self.p
        inner, _ = self.linear_back(trail["down"], dx)
        d_up = p.step("geluBackward", trail["upper"], inner) if self.is_gpt else p.step(
            "siluProductBackwardUp", trail["gated"], inner)
        sum_up, turned = self.linear_back(trail["up"], d_up)
        if not self.is_gpt:
            d_gate = p.step("siluProductBackwardGate", trail["gated"], trail["upper"], inner)
            sum_up = p.step("add", sum_up, self.linear_back(trail["gate"], d_gate, turned)[0])
        inner = sum_up
        dx = p.step("add", dx, self.norm_back(trail["norm2"], inner))
        inner, _ = self.linear_back(trail["o"], dx)
        parts, turned = [], None
        for part, dy in zip("qkv", self.attention_back(trail["attention"], inner)):
            back, turned = self.linear_back(trail[part], dy if part == "v" else self.placed(dy, 1), turned)
            parts.append(back)
        inner = p.step("add", p.step("add", parts[0], parts[1]), parts[2])
        return p.step("add", dx, self.norm_back(trail["norm1"], inner))

    def backward(self, d_logits):
        p = self.p
        dx = self.norm_back(self.final, self.linear_back(self.head, d_logits)[0])
        for trail in reversed(self.layers):
            dx = self.layer_back(trail, dx)
        q, scales = self.turned_gradient(p.step("transpose", dx))
        table = p.step("embedBackward", self.inputs, q, scales, kinds=self.model["vocabulary"], piece=PIECE)
        self.gradients["embed"] = p.step("add", table, self.gradients["embed"]) if self.model["isTied"] else table
        if self.is_gpt:
            self.gradients["positions"] = p.step(
                "embedBackward", self.places, q, scales, kinds=self.model["context"], piece=PIECE)


def rate_at(table, t):
    """W2.9.5"""
    rates = [(at, work.from_bits(bits)) for at, bits in table]
    if t <= rates[0][0]:
        return rates[0][1]
    for (t0, r0), (t1, r1) in zip(rates, rates[1:]):
        if t <= t1:
            return f(r0 + f(f(f(t - t0) / f(t1 - t0)) * f(r1 - r0)))
    return rates[-1][1]


def power(x, n):
    result = 1.0
    for _ in range(n):
        result = f(result * x)
    return result


def moments(optimiser):
    return ["/m", "/v"] if optimiser["name"] == "adamW" else ["/v"]


def optimise(p, said, t, names, gradients):
    """W2.9: the next state in its order, and the norm."""
    number = {name: work.from_bits(bits) for name, bits in said.items() if name not in ("name", "rates")}
    sums = [p.step("rowSum", p.step("squareSums", gradients[name])) for name in names]
    norm = p.step("gradientNorm", *sums)
    clip = p.step("clipFactor", norm, clip=number["clip"])
    rate, after = rate_at(said["rates"], t), []
    for name in names:
        if said["name"] == "sgd":
            v = p.step("sgdVelocity", name + "/v", gradients[name], clip, momentum=number["momentum"])
            after += [p.step("sgdWeight", name, v, rate=rate), v]
            continue
        m = p.step("adamWFirst", name + "/m", gradients[name], clip, beta1=number["beta1"])
        v = p.step("adamWSecond", name + "/v", gradients[name], clip, beta2=number["beta2"])
        w = p.step("adamWWeight", name, m, v, rate=rate, epsilon=number["epsilon"], decay=number["decay"],
                   correction1=f(1 - power(number["beta1"], t)), correction2=f(1 - power(number["beta2"], t)))
        after += [w, m, v]
    return after, norm


def through(p, said, which, draw, sequences):
    """The way there: logits, targets, and the pass that knows the way back."""
    model, tokens = said["model"], said["tokens"]
    taken = p.step("embed", which, "data", name="windows")
    if model["family"] == "mlp":
        found = MlpPass(p, draw)
        logits = found.forward(model["sizes"], taken)
        return logits, p.step("embed", which, "labels", name="labels"), found
    inputs, targets = (p.step("cut", taken, column=at, columns=tokens, width=1) for at in (0, 1))
    found = DecoderPass(p, draw, model, sequences, tokens)
    return found.forward(inputs), targets, found


def transition(said, seed, t, sequences):
    """The program of transition t of the parameters `said`, with so many of their sequences; those of one alone keep the factor."""
    model, tokens, whole, windows = said["model"], said["tokens"], said["sequences"], said["windows"]
    assert said["start"] == "fresh" and "shards" not in said, "no program of it is written here"
    p, words = Program(), struct.unpack("<8I", seed)
    if model["family"] == "mlp":
        p.given("data", "f32", windows, model["sizes"][0])
        p.given("labels", "u32", windows, 1)
    else:
        p.given("data", "u32", windows, tokens + 1)
    weights = parameters(model)
    for name, *size in weights:
        for part in [""] + moments(said["optimiser"]):
            p.given(name + part, "f32", *size)
    per_epoch = windows // sequences
    which = p.step("windowOrder", epoch=(t - 1) // per_epoch, windows=windows,
                   first=(t - 1) % per_epoch * sequences, count=sequences, seed=words)
    logits, targets, way = through(p, said, which, {"key": words[:2], "transition": t}, sequences)
    top = p.step("rowMaximum", logits)
    rows = [logits, top, p.step("exponentialSum", logits, top), targets]
    losses = p.step("crossEntropy", *rows)
    factor = f(1 / (whole * tokens))
    loss = p.step("scale", p.step("rowSum", p.as_row(losses)), name="loss", factor=factor)
    way.backward(p.step("crossEntropyBackward", *rows, factor=factor))
    p.after, norm = optimise(p, said["optimiser"], t, [name for name, *_ in weights], way.gradients)
    p.figures = [loss, norm]
    return p
