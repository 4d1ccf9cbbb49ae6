"""Exact work, docs/spec/work.md section W2, from the text. Python's floats are binary64; f() rounds to binary32.

An operation on two binary32 numbers done in binary64 and rounded once more is rounded as if once: binary64 has more than
twice the digits and two (+, -, *, / and square roots alike).
"""
import ctypes
import math
import struct

import tsp1

MASK32 = 0xFFFFFFFF
PIECE = 4096
NO_TARGET = MASK32


def f(x):
    return ctypes.c_float(x).value


def bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def from_bits(u):
    return struct.unpack("<f", struct.pack("<I", u & MASK32))[0]


def bits64(x):
    return struct.unpack("<q", struct.pack("<d", x))[0]


def from_bits64(u):
    return struct.unpack("<d", struct.pack("<Q", u & 0xFFFFFFFFFFFFFFFF))[0]


def signed(u, size=32):
    u &= (1 << size) - 1
    return u - (1 << size) if u >> (size - 1) else u


def divide(a, b):
    """IEEE 754 division, which Python refuses by zero."""
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
    return f(a / b)


def larger(a, b):
    return a if a > b else b


def smaller(a, b):
    return a if a < b else b


def hexadecimal(*texts):
    return [float.fromhex(text) for text in texts]


# W2.0.8
SHIFT = float.fromhex("0x1.8p23")
SHIFT64 = float.fromhex("0x1.8p52")


def nearest(x):
    return f(f(x + SHIFT) - SHIFT)


# W2.1
def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def product(a, b, mask="none", first=0):
    """Rows of a against rows of b; W2.1.3 for masks."""
    if mask == "operand":
        a = [x[:first + i + 1] for i, x in enumerate(a)]
    return [[0 if mask == "result" and j > first + i else dot(x, y) for j, y in enumerate(b)] for i, x in enumerate(a)]


def product_pieces(a, scales, b, piece):
    rows = []
    for x, s in zip(a, scales):
        row = []
        for y in b:
            terms = [f(f(dot(x[at:at + piece], y[at:at + piece])) * s[at // piece]) for at in range(0, len(x), piece)]
            total = terms[0]
            for term in terms[1:]:
                total = f(total + term)
            row.append(total)
        rows.append(row)
    return rows


# W2.2
def folded(x, fold):
    return [f(a * b) for a, b in zip(x, fold)] if fold else list(x)


def row_scale(x, fold=None):
    largest = max([bits(abs(y)) for y in folded(x, fold)] + [bits(2.0 ** -100)])
    return f(from_bits(largest) / 127)


def clamp(v):
    return larger(smaller(v, 127.0), -127.0)


def quantise(x, scale, fold=None):
    r = divide(1.0, scale)
    return [int(nearest(clamp(f(y * r)))) for y in folded(x, fold)]


def draw_block(draw, block):
    key0, key1, tensor, transition = draw
    return tsp1.philox4x32((block & MASK32, block >> 32, tensor, transition), (key0, key1))


def lane(draw, n):
    word = draw_block(draw, n // 8)[n % 8 // 2]
    return word & 0xFFFF if n % 2 == 0 else word >> 16


def quantise_stochastic(x, scale, draw, index, fold=None):
    r, out = divide(1.0, scale), []
    for i, y in enumerate(folded(x, fold)):
        u = f(f(lane(draw, index + i) + 0.5) * 2.0 ** -16)
        v = f(f(y * r) + u)
        out.append(int(clamp(float(math.floor(v)) if math.isfinite(v) else v)))
    return out


def dequantise(sums, row, columns, factor, bias):
    out = []
    for j, c in enumerate(sums):
        y = f(f(f(f(c) * row) * (columns[j] if columns else 1.0)) * factor)
        out.append(f(y + bias[j]) if bias else y)
    return out


# W2.3
EXP = hexadecimal("0x1.6a234ep-10", "0x1.123a6cp-7", "0x1.5558f4p-5", "0x1.55549p-3", "0x1.fffffcp-2")
LOG = hexadecimal("0x1.ddde5p-3", "0x1.245bf2p-2", "0x1.9999ecp-2", "0x1.555556p-1")
LOG2E, LN2_HIGH, LN2_LOW = hexadecimal("0x1.715476p+0", "0x1.62e4p-1", "0x1.7f7d1cp-20")
GELU_C, GELU_D, GELU_E = hexadecimal("0x1.988454p+0", "0x1.2444f2p-4", "0x1.b6676cp-3")


def polynomial(coefficients, x):
    q = coefficients[0]
    for c in coefficients[1:]:
        q = f(f(q * x) + c)
    return q


def exp(x):
    c = larger(smaller(x, 88.0), -87.0)
    t = f(f(c * LOG2E) + SHIFT)
    n = f(t - SHIFT)
    r = f(f(c - f(n * LN2_HIGH)) - f(n * LN2_LOW))
    p = f(1 + f(r + f(f(r * r) * polynomial(EXP, r))))
    return f(p * from_bits((bits(t) << 23) + 0x3F800000)) if x >= -87.0 else 0.0


def log(x):
    i = signed(bits(x) - 0x3F3504F3)
    e = f(i >> 23)
    fraction = f(from_bits((i & 0x7FFFFF) + 0x3F3504F3) - 1)
    s = f(fraction / f(2 + fraction))
    z = f(s * s)
    h = f(f(0.5 * fraction) * fraction)
    inner = f(f(s * f(h + f(z * polynomial(LOG, z)))) + f(e * LN2_LOW))
    return f(f(e * LN2_HIGH) + f(fraction - f(h - inner)))


def logistic(u):
    e = exp(-u)
    return e, f(1 / f(1 + e))


def gelu_inner(x):
    return f(x * f(GELU_C + f(GELU_D * f(x * x))))


def gelu(x):
    return f(x / f(1 + exp(-gelu_inner(x))))


def gelu_slope(x):
    e, s = logistic(gelu_inner(x))
    return f(s + f(f(f(s * f(e * s)) * x) * f(GELU_C + f(GELU_E * f(x * x)))))


def silu(x):
    return f(x / f(1 + exp(-x)))


def silu_slope(x):
    e, s = logistic(x)
    return f(s * f(1 + f(x * f(e * s))))


def relu(x):
    return x if x > 0 else 0.0


# W2.4: plain Python floats
def horner64(coefficients, x):
    q = coefficients[0]
    for c in coefficients[1:]:
        q = q * x + c
    return q


def log64(x):
    i = signed(bits64(x) - 0x3FE6A09E667F3BCD, 64)
    fraction = from_bits64((i & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD) - 1.0
    s = fraction / (2.0 + fraction)
    z = s * s
    q = horner64([1.0 / (2 * n + 1) for n in range(10, 0, -1)], z)
    return (i >> 52) * float.fromhex("0x1.62e42fefa39efp-1") + (2.0 * s + ((2.0 * s) * z) * q)


def factorial(n):
    """1/n!; the division of whole numbers is rounded once."""
    return 1 / math.factorial(n)


def exp64(x):
    c = (x if x > -700.0 else -700.0) if x < 700.0 else 700.0
    n = (c * float.fromhex("0x1.71547652b82fep+0") + SHIFT64) - SHIFT64
    r = (c - n * float.fromhex("0x1.62e42ep-1")) - n * float.fromhex("0x1.efa39ef35793cp-25")
    q = horner64([factorial(n) for n in range(13, 1, -1)], r)
    return (1.0 + (r + (r * r) * q)) * 2.0 ** int(n)


def in_quadrant(r, k):
    z = r * r
    s = r + (r * z) * horner64([factorial(n) * (1 if n % 4 == 1 else -1) for n in range(17, 2, -2)], z)
    c = 1.0 + z * horner64([factorial(n) * (1 if n % 4 == 0 else -1) for n in range(16, 1, -2)], z)
    if k & 1:
        s, c = c, s
    return (-s if k & 2 else s), (-c if (k + 1) & 2 else c)


def sine_cosine(angle):
    a = larger(smaller(angle, 2.0 ** 24), 0.0)
    n = (a * float.fromhex("0x1.45f306dc9c883p-1") + SHIFT64) - SHIFT64
    r = (a - n * float.fromhex("0x1.921fb54p+0")) - n * float.fromhex("0x1.10b4611a62633p-30")
    return tuple(map(f, in_quadrant(r, int(n))))


def rotary_frequency(base, i, half):
    return f(exp64(-(i / half) * log64(base)))


def normal(a, b):
    radius = math.sqrt(-2.0 * log64((a + 0.5) * 2.0 ** -32))
    turn = b >> 1
    k = (turn + (1 << 28)) >> 29
    return f(radius * in_quadrant((turn - (k << 29)) * float.fromhex("0x1.921fb54442d18p-29"), k)[1])


# W2.5
def total(values):
    if len(values) > PIECE:
        return total([total(values[at:at + PIECE]) for at in range(0, len(values), PIECE)])
    s = [0.0] * 32
    for i, x in enumerate(values):
        s[i % 32] = f(s[i % 32] + x)
    half = 16
    while half:
        for i in range(half):
            s[i] = f(s[i] + s[i + half])
        half //= 2
    return s[0]


def square_sums(x):
    return [total([f(y * y) for y in x[at:at + PIECE]]) for at in range(0, len(x), PIECE)]


# W2.7
def key(x):
    u = bits(x)
    return signed(u ^ 0x7FFFFFFF) if u >> 31 else u


def maximum(x):
    return max(x, key=key)


def argmax(x):
    return min(range(len(x)), key=lambda i: (-key(x[i]), i))


def seen(row, period, first, width):
    return width if period == 0 else min((first + row) % period + 1, width)


# W2.8
def row_mean(x):
    return f(total(x) / f(len(x)))


def centred(x, mean):
    return x if mean is None else [f(y - mean) for y in x]


def norm_inverse(x, mean, epsilon):
    s = total([f(y * y) for y in centred(x, mean)])
    return divide(1.0, f(math.sqrt(f(f(s / f(len(x))) + epsilon))))


def hats(x, mean, inverse):
    return [f(y * inverse) for y in centred(x, mean)]


def norm(x, mean, inverse, gain, shift):
    y = [f(h * g) for h, g in zip(hats(x, mean, inverse), gain)]
    return [f(a + b) for a, b in zip(y, shift)] if shift else y


def norm_backward(x, mean, inverse, gain, dy):
    n, h, e = f(len(x)), hats(x, mean, inverse), [f(d * g) for d, g in zip(dy, gain)]
    m2 = f(total([f(a * b) for a, b in zip(e, h)]) / n)
    m1 = None if mean is None else f(total(e) / n)
    return [f(f((a if m1 is None else f(a - m1)) - f(b * m2)) * inverse) for a, b in zip(e, h)]


def norm_gain_terms(x, mean, inverse, dy):
    return [f(d * h) for d, h in zip(dy, hats(x, mean, inverse))]


def exponential_sum(x, top):
    return total([exp(f(y - top)) for y in x])


def exponential(x, top):
    return [exp(f(y - top)) for y in x]


def exponential_backward(e, d, t):
    return [f(a * f(b - t)) for a, b in zip(e, d)]


def row_dot(a, b):
    return total([f(x * y) for x, y in zip(a, b)])


def divide_row(x, s):
    return [divide(y, s) for y in x]


def cross_entropy(x, top, s, target):
    return 0.0 if target == NO_TARGET else f(log(s) - f(x[target] - top))


def cross_entropy_backward(x, top, s, target, first, factor):
    if target == NO_TARGET:
        return [0.0] * len(x)
    return [f((f(p - 1) if first + j == target else p) * factor) for j, p in enumerate(divide_row(exponential(x, top), s))]


# W2.9
def gradient_norm(squares):
    s = 0.0
    for x in squares:
        s = f(s + x)
    return f(math.sqrt(s))


def clip_factor(n, clip):
    return f(clip / larger(n, clip))


def adamw_first(m, g, beta):
    return f(f(beta * m) + f(f(1 - beta) * g))


def adamw_second(v, g, beta):
    return f(f(beta * v) + f(f(f(1 - beta) * g) * g))


def adamw_weight(w, m, v, rate, epsilon, decay, c1, c2):
    step = divide(f(m / c1), f(f(math.sqrt(f(v / c2))) + epsilon))
    return f(w - f(rate * f(step + f(decay * w))))


def sgd_velocity(v, g, momentum):
    return f(f(momentum * v) + g)


def sgd_weight(w, v, rate):
    return f(w - f(rate * v))


# W2.10
def fresh(draw, i, deviation, mean):
    words = draw_block(draw, i // 2)
    a, b = words[2 * (i % 2)], words[2 * (i % 2) + 1]
    return f((-mean if b & 1 else mean) + f(normal(a, b) * deviation))


def window(seed_words, epoch, windows, i):
    h = 1
    while 4 ** h < windows:
        h += 1
    keys = [tsp1.mix32(seed_words[r] ^ tsp1.mix32((epoch + r * 0x9E3779B9) & MASK32)) for r in range(8)]
    while True:
        left, right = i >> h, i & (1 << h) - 1
        for k in keys:
            left, right = right, left ^ tsp1.mix32(right ^ k) & (1 << h) - 1
        i = left << h | right
        if i < windows:
            return i


def sample_noise(x, sequence, position, first, factor, key0, key1):
    out = []
    for i, y in enumerate(x):
        j = first + i
        word = draw_block((key0, key1, sequence, 0xFFFFFFFE), (position << 32) + j // 4)[j % 4]
        u = f(f((word >> 9) + 0.5) * 2.0 ** -23)
        out.append(f(f(y * factor) - log(-log(u))))
    return out


# W2.11
def rotary(head, position, frequencies, inverse):
    half = len(head) // 2
    out = [0.0] * len(head)
    for i in range(half):
        s, c = sine_cosine(f(f(position) * frequencies[i]))
        s, a, b = (-s if inverse else s), head[i], head[half + i]
        out[i], out[half + i] = f(f(a * c) - f(b * s)), f(f(b * c) + f(a * s))
    return out


def embed_backward(tokens, q, scales, kinds, piece):
    """Rows of the gradient; q[channel][token], scales[channel][piece]."""
    out = [[0.0] * len(q) for _ in range(kinds)]
    for kind in range(kinds):
        for channel, row in enumerate(q):
            for p, at in enumerate(range(0, len(tokens), piece)):
                c = sum(row[i] for i in range(at, min(at + piece, len(tokens))) if tokens[i] == kind)
                out[kind][channel] = f(out[kind][channel] + f(f(c) * scales[channel][p]))
    return out
