"""Ed25519 from its mathematics (RFC 8032, section 5.1). Plain and slow: for checking, never for secrets."""
import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
IDENTITY = (0, 1, 1, 0)


def _recover_x(y, sign):
    """The x of a curve point with this y, or None. x^2 = (y^2 - 1) / (d y^2 + 1)."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * SQRT_OF_MINUS_ONE % P
    if (x * x - square) % P != 0 or (x == 0 and sign == 1):
        return None
    return P - x if x & 1 != sign else x


def _add(p, q):
    """The complete addition law in extended coordinates (X : Y : Z : T), T = XY / Z."""
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def _multiply(scalar, point):
    result = IDENTITY
    while scalar > 0:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


def _same(p, q):
    return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0


def _encode(point):
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _decode(data):
    """A point from its only canonical encoding (y < p), or None."""
    number = int.from_bytes(data, "little")
    y, sign = number & (2**255 - 1), number >> 255
    x = _recover_x(y, sign) if y < P else None
    return None if x is None else (x, y, 1, x * y % P)


_BASE_Y = 4 * pow(5, P - 2, P) % P
_BASE_X = _recover_x(_BASE_Y, 0)
BASE = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % P)


BASE_DOUBLED = [BASE]
for _ in range(255):
    BASE_DOUBLED.append(_add(BASE_DOUBLED[-1], BASE_DOUBLED[-1]))


def _multiply_base(scalar):
    result = IDENTITY
    for bit, point in enumerate(BASE_DOUBLED):
        if scalar >> bit & 1:
            result = _add(result, point)
    return result


def _hash_number(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def _expand(secret):
    digest = hashlib.sha512(secret).digest()
    scalar = int.from_bytes(digest[:32], "little")
    return scalar & (2**254 - 8) | 2**254, digest[32:]


def public_key(secret):
    return _encode(_multiply_base(_expand(secret)[0]))


def sign(secret, message):
    scalar, prefix = _expand(secret)
    public = _encode(_multiply_base(scalar))
    r = _hash_number(prefix, message) % L
    encoded_r = _encode(_multiply_base(r))
    s = (r + _hash_number(encoded_r, public, message) % L * scalar) % L
    return encoded_r + s.to_bytes(32, "little")


def verify(public, message, signature):
    """Canonical encodings, S < L, a key outside the small subgroup, and 8 S B = 8 R + 8 h A."""
    if len(public) != 32 or len(signature) != 64:
        return False
    a, r = _decode(public), _decode(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L or _same(_multiply(8, a), IDENTITY):
        return False
    h = _hash_number(signature[:32], public, message) % L
    return _same(_multiply(8, _multiply_base(s)), _multiply(8, _add(r, _multiply(h, a))))
