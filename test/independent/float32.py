"""IEEE 754 binary32 on bit patterns, by exact integers: no hardware floating point is used anywhere."""

INFINITY = 0x7F800000


def parts(bits):
    """(sign, integer significand, exponent) of a finite number: value = +-significand * 2^exponent."""
    sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        raise ValueError("not finite")
    return (sign, fraction, -149) if exponent == 0 else (sign, fraction | 1 << 23, exponent - 150)


def round_shift(value, shift):
    """value / 2^shift for a value >= 0, rounded to the nearest integer, ties to even."""
    if shift <= 0:
        return value << -shift
    quotient, rest, half = value >> shift, value & (1 << shift) - 1, 1 << shift - 1
    return quotient + (1 if rest > half or (rest == half and quotient & 1) else 0)


def to_bits(value, exponent):
    """The binary32 nearest to value * 2^exponent (ties to even); zero is +0, overflow is infinite."""
    sign, size = (1 << 31, -value) if value < 0 else (0, value)
    if size == 0:
        return 0
    lowest = max(exponent + size.bit_length() - 24, -149)
    significand = round_shift(size, lowest - exponent)
    if significand == 1 << 24:
        significand, lowest = 1 << 23, lowest + 1
    if significand < 1 << 23:
        return sign | significand
    return sign | (INFINITY if lowest + 150 >= 0xFF else lowest + 150 << 23 | significand & 0x7FFFFF)


def fma(a, b, c):
    """a * b + c rounded once, to nearest, ties to even, for finite operands."""
    (sa, ma, ea), (sb, mb, eb), (sc, mc, ec) = parts(a), parts(b), parts(c)
    product, exponent = (-ma * mb if sa ^ sb else ma * mb), ea + eb
    low = min(exponent, ec)
    total = (product << exponent - low) + ((-mc if sc else mc) << ec - low)
    if total == 0:
        both_negative = mc == 0 and ma * mb == 0 and sa ^ sb == 1 and sc == 1
        return 1 << 31 if both_negative else 0
    return to_bits(total, low)


def chain(row_a, row_b):
    """The fused chain of section 2, k ascending from +0. Entries are integers in units of 2^-23.

    Every product, and so every rounded sum, is a multiple of 2^-46: the sum is kept as an integer of that unit.
    """
    total = 0
    for a, b in zip(row_a, row_b):
        total += a * b
        if not -0x1000000 < total < 0x1000000:
            size = -total if total < 0 else total
            shift = size.bit_length() - 24
            size = size + (1 << shift - 1) - 1 + (size >> shift & 1) >> shift << shift
            total = -size if total < 0 else size
    return to_bits(total, -46)
