"""Signatures and proofs with points of small order in them: what a lax verifier takes and a strict one does not."""
import ecvrf
import ed25519 as ed


def _small_points():
    """The eight points of order 1, 2, 4 and 8, as multiples of one of order 8."""
    y = 2
    while True:
        point = ed._decode(y.to_bytes(32, "little"))
        y += 1
        if point is None:
            continue
        eighth = ed._multiply(ed.L, point)
        if not ed._same(ed._multiply(4, eighth), ed.IDENTITY):
            return [ed._multiply(i, eighth) for i in range(8)]


SMALL = _small_points()


def _order(i):
    return {0: 1, 4: 2, 2: 4, 6: 4}.get(i, 8)


def is_torsion_free(public):
    return ecvrf._torsion_free(public) is not None


def _little(number):
    return number.to_bytes(32, "little")


def _wide(data):
    """The same y with p added, where 255 bits have room for it; else nothing."""
    number = int.from_bytes(data, "little")
    y, sign = number & (2**255 - 1), number >> 255
    return _little((y + ed.P) | sign << 255) if y + ed.P < 2**255 else None


def _signed(secret, message, key_shift, r_shift, r=None):
    """A signature under A + T with R + T': right by the equation with the cofactor, whatever T and T' are."""
    a, prefix = ed._expand(secret)
    public = ed._encode(ed._add(ed._multiply_base(a), key_shift))
    r = ed._hash_number(prefix, message) % ed.L if r is None else r
    shifted = ed._encode(ed._add(ed._multiply_base(r), r_shift))
    h = ed._hash_number(shifted, public, message) % ed.L
    return public, message, shifted + _little((r + h * a) % ed.L)


def signature_cases(secret):
    for i, point in enumerate(SMALL):
        name = "%d times the point of order 8 (order %d)" % (i, _order(i))
        yield ("key plus " + name, *_signed(secret, b"A", point, ed.IDENTITY))
        yield ("R plus " + name, *_signed(secret, b"R", ed.IDENTITY, point))
        yield ("key and R plus " + name, *_signed(secret, b"AR", point, point))
        yield ("key plus, R minus " + name, *_signed(secret, b"A-R", point, SMALL[-i]))
        yield ("R is " + name, *_signed(secret, b"small R", ed.IDENTITY, point, 0))
        encoded = ed._encode(point)
        for s in (0, 1):
            yield ("key is %s, S = %d" % (name, s), encoded, b"small A",
                   ed._encode(ed._multiply_base(s)) + _little(s))
        other = bytes(encoded[:31]) + bytes([encoded[31] ^ 0x80])
        yield ("key is %s with the other sign" % name, other, b"sign", ed._encode(ed.IDENTITY) + _little(0))
        if _wide(encoded):
            for s in (0, 1):
                yield ("key is %s with y + p, S = %d" % (name, s), _wide(encoded), b"wide A",
                       ed._encode(ed._multiply_base(s)) + _little(s))
            public, message, signature = _signed(secret, b"wide R", ed.IDENTITY, point, 0)
            a, _ = ed._expand(secret)
            h = ed._hash_number(_wide(encoded), public, message) % ed.L
            yield ("R is %s with y + p" % name, public, message, _wide(encoded) + _little(h * a % ed.L))
    public, message, good = _signed(secret, b"S", ed.IDENTITY, ed.IDENTITY)
    s = int.from_bytes(good[32:], "little")
    yield ("plain", public, message, good)
    for times in (1, 2, 8, 15):
        if s + times * ed.L < 2**256:
            yield ("S + %d L" % times, public, message, good[:32] + _little(s + times * ed.L))
    yield ("S = L", public, message, good[:32] + _little(ed.L))
    for y in range(19):
        if ed._decode(_little(y)) is not None:
            yield ("key with y = p + %d" % y, _little(ed.P + y), message, good)
            yield ("R with y = p + %d" % y, public, message, _little(ed.P + y) + good[32:])
    yield ("key off the curve", _little(2), message, good)
    yield ("R off the curve", public, message, _little(2) + good[32:])


def _proof(secret, alpha, key_shift, gamma_shift, plain):
    """A proof under Y + T with Gamma + T', by a nonce whose challenge is a multiple of 8: a lax verifier takes it."""
    x, _ = ed._expand(secret)
    public = ed._encode(ed._add(ed._multiply_base(x), key_shift))
    h, _ = ecvrf.encode_to_curve(public, alpha)
    gamma = ed._encode(ed._add(ed._multiply(x, h), gamma_shift))
    k = 0
    while True:
        k += 1
        c = ecvrf.challenge(public, ed._encode(h), gamma, ed._encode(ed._multiply_base(k)), ed._encode(ed._multiply(k, h)))
        if plain or c % 8 == 0:
            return public, alpha, gamma + c.to_bytes(16, "little") + _little((k + c * x) % ed.L)


def vrf_cases(secret):
    for i, point in enumerate(SMALL):
        name = "%d times the point of order 8 (order %d)" % (i, _order(i))
        yield ("gamma plus " + name, *_proof(secret, b"gamma", ed.IDENTITY, point, i == 0))
        yield ("key plus " + name, *_proof(secret, b"key", point, ed.IDENTITY, i == 0))
        yield ("key and gamma plus " + name, *_proof(secret, b"both", point, point, i == 0))
        # With a key of small order every output is known to all: Gamma is the neutral point, k alone makes c and s.
        encoded, neutral = ed._encode(point), ed._encode(ed.IDENTITY)
        h, _ = ecvrf.encode_to_curve(encoded, b"small")
        for k in range(1, 200):
            u, v = ed._encode(ed._multiply_base(k)), ed._encode(ed._multiply(k, h))
            c = ecvrf.challenge(encoded, ed._encode(h), neutral, u, v)
            if c % 8 == 0:
                break
        yield ("key is " + name, encoded, b"small", neutral + c.to_bytes(16, "little") + _little(k))
    public, alpha, good = _proof(secret, b"plain", ed.IDENTITY, ed.IDENTITY, True)
    s = int.from_bytes(good[48:], "little")
    yield ("another alpha", public, b"plaim", good)
    yield ("another key", ed.public_key(good[:32]), alpha, good)
    for times in (1, 8):
        yield ("s + %d L" % times, public, alpha, good[:48] + _little(s + times * ed.L))
    yield ("s = 0", public, alpha, good[:48] + _little(0))
    yield ("s = L", public, alpha, good[:48] + _little(ed.L))
    yield ("c = 0", public, alpha, good[:32] + bytes(16) + good[48:])
    yield ("gamma off the curve", public, alpha, _little(2) + good[32:])
    for y in range(19):
        if ed._decode(_little(y)) is not None:
            yield ("gamma with y = p + %d" % y, public, alpha, _little(ed.P + y) + good[32:])
            yield ("key with y = p + %d" % y, _little(ed.P + y), alpha, good)
    yield ("a byte short", public, alpha, good[:79])
    yield ("a byte long", public, alpha, good + b"\x00")
    yield ("a key that is short", public[:31], alpha, good)
