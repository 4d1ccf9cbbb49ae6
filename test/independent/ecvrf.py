"""ECVRF-EDWARDS25519-SHA512-TAI of RFC 9381 from its mathematics, with the stricter decoding of docs/spec/chain.md."""
import hashlib

import ed25519 as ed

SUITE = b"\x03"


def _hash(*parts):
    return hashlib.sha512(b"".join(parts)).digest()


def encode_to_curve(key, alpha):
    """Try and increment (RFC 9381, 5.4.1.1), the cofactor cleared; with the number of tries."""
    for tries in range(256):
        point = ed._decode(_hash(SUITE, b"\x01", key, alpha, bytes([tries]), b"\x00")[:32])
        if point is not None:
            point = ed._multiply(8, point)
            if not ed._same(point, ed.IDENTITY):
                return point, tries
    raise AssertionError("no point in 256 tries")


def challenge(*points):
    return int.from_bytes(_hash(SUITE, b"\x02", *points, b"\x00")[:16], "little")


def output(gamma):
    return _hash(SUITE, b"\x03", ed._encode(ed._multiply(8, gamma)), b"\x00")


def prove(secret, alpha):
    x, prefix = ed._expand(secret)
    key = ed.public_key(secret)
    h, tries = encode_to_curve(key, alpha)
    gamma = ed._multiply(x, h)
    k = int.from_bytes(_hash(prefix, ed._encode(h)), "little") % ed.L
    c = challenge(key, ed._encode(h), ed._encode(gamma), ed._encode(ed._multiply_base(k)), ed._encode(ed._multiply(k, h)))
    proof = ed._encode(gamma) + c.to_bytes(16, "little") + ((k + c * x) % ed.L).to_bytes(32, "little")
    return proof, output(gamma), tries


def _torsion_free(data):
    """A point other than the identity in the group of prime order, from its only encoding."""
    point = ed._decode(data)
    if point is None or ed._same(point, ed.IDENTITY) or not ed._same(ed._multiply(ed.L, point), ed.IDENTITY):
        return None
    return point


def _negated(point):
    return (-point[0] % ed.P, point[1], point[2], -point[3] % ed.P)


def verify(key, alpha, proof):
    """beta, or None."""
    if len(key) != 32 or len(proof) != 80:
        return None
    y, gamma = _torsion_free(key), _torsion_free(proof[:32])
    c, s = int.from_bytes(proof[32:48], "little"), int.from_bytes(proof[48:], "little")
    if y is None or gamma is None or c == 0 or s == 0 or s >= ed.L:
        return None
    h, _ = encode_to_curve(key, alpha)
    u = ed._add(ed._multiply_base(s), _negated(ed._multiply(c, y)))
    v = ed._add(ed._multiply(s, h), _negated(ed._multiply(c, gamma)))
    points = [ed._encode(point) for point in (y, h, gamma, u, v)]
    return output(gamma) if challenge(*points) == c else None
