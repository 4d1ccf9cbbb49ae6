"""The lottery of docs/spec/chain.md, section 3: threshold, draws, randomness and seats, from the document alone."""
import hashlib
from fractions import Fraction

QB = 320
ONE = 1 << QB


def _cut(a, b):
    """Division that cuts towards zero, b > 0."""
    return a // b if a >= 0 else -(-a // b)


def threshold(numerator, denominator, weight, total):
    z = numerator * ONE // (2 * denominator - numerator)
    logarithm, power, k = 0, z, 1
    while power:
        logarithm += power // k
        power = power * (z * z >> QB) >> QB
        k += 2
    x = 2 * logarithm * weight // total
    s, t, k = x, x, 2
    while True:
        t = _cut(-((t * x) >> QB), k)
        if t == 0:
            return s >> 64
        s += t
        k += 1


def true_threshold(numerator, denominator, weight, total):
    """2^256 (1 - (1 - f)^(w/W)) by exact roots: the largest whole number below it, with no series."""
    rest = Fraction(denominator - numerator, denominator) ** weight
    # (rest)^(1/total) scaled by 2^600, by bisection on whole numbers.
    scale = 600
    low, high = 0, 1 << scale
    while high - low > 1:
        middle = (low + high) // 2
        if middle ** total * rest.denominator <= rest.numerator << scale * total:
            low = middle
        else:
            high = middle
    return ((1 << scale) - low - 1) >> (scale - 256)


def _hash(tag, *parts):
    return hashlib.sha256(tag.encode() + b"".join(parts)).digest()


def _number(data):
    return int.from_bytes(data, "big")


def slot_alpha(genesis, eta, slot):
    return b"ts1-slot" + genesis + eta + slot.to_bytes(8, "big")


def lottery_number(beta):
    return _number(_hash("L", beta))


def block_randomness(beta):
    return _hash("N", beta)


def _holder(weights, number):
    number %= sum(weights)
    for index, weight in enumerate(weights):
        if number < weight:
            return index
        number -= weight
    raise AssertionError("no holder")


def secondary(weights, eta, slot):
    return _holder(weights, _number(_hash("S", eta, slot.to_bytes(8, "big"))))


def next_eta(previous, epoch, rhos):
    return _hash("eta", previous, epoch.to_bytes(8, "big"), *rhos)


def voting_set(weights, eta, exact, seats):
    """Pairs of candidate and weight: the heaviest, then holders of seats by their first one."""
    heavy = sorted((i for i, w in enumerate(weights) if w), key=lambda i: (-weights[i], i))[:exact]
    rest = [0 if i in heavy else w for i, w in enumerate(weights)]
    found = {i: weights[i] for i in heavy}
    each = sum(rest) // seats
    for seat in range(seats if each else 0):
        holder = _holder(rest, _number(_hash("ts1/seat", eta, seat.to_bytes(4, "big"))))
        found[holder] = found.get(holder, 0) + each
    return list(found.items())
