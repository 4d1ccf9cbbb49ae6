"""Accounting of computing power by docs/spec/chain.md, section 4, from the document alone."""

WEEK, EIGHT_WEEKS = 168, 8 * 168
FLOP_PER_UT = 10**9 * 86400 // 200
WEIGHTS = {"fp32": (1, 1), "int32": (1, 1), "int8": (1, 8)}


def keep(epochs):
    """The largest whole number k with (k / 2^64)^epochs <= 1/2, by bisection."""
    low, high = 0, 1 << 64
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if 2 * middle**epochs <= 1 << 64 * epochs else (low, middle)
    return low


KEEP = {"week": keep(WEEK), "eightWeeks": keep(EIGHT_WEEKS)}


def step(rate, work, half_life):
    k = KEEP[half_life]
    return rate * k // 2**64 + (2**64 - k) * work * 24 // 2**64


def quality(drilled, failed):
    if drilled + failed == 0:
        return 256
    q = 256 * drilled // (drilled + failed)
    return q if q >= 128 else 0


def combined(drilling, training, q):
    return (4 * (drilling * q // 256) + 6 * training) // 10


def weight(drilled, trained, failed):
    return min(combined(drilled, trained, quality(drilled, failed)), 2**64 - 1)


def voting_weight(drilled, trained, failed, settled):
    return min(weight(drilled, trained, failed), 2 * settled)


def credit_within(capacity, used, work):
    return max(0, min(work, capacity * 11 // 10 - used))


def work_of(operations):
    """µut of operations by kind, rounded down once."""
    eighths = sum(8 * WEIGHTS[kind][0] // WEIGHTS[kind][1] * count for kind, count in operations.items())
    return eighths * 10**6 // (8 * FLOP_PER_UT)


def training_burn(block_part, total):
    return 24 * block_part * 10**6 * 19 // (200 * total)
