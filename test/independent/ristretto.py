"""ristretto255 from its definition (RFC 9496). Plain and slow: for checking, never for secrets."""
import ed25519

P, L, D = ed25519.P, ed25519.L, ed25519.D
SQRT_M1 = ed25519.SQRT_OF_MINUS_ONE
IDENTITY = ed25519.IDENTITY


def is_negative(x):
    return x % P & 1


def absolute(x):
    x %= P
    return P - x if is_negative(x) else x


def sqrt_ratio(u, v):
    """(True, sqrt(u / v)), or (False, sqrt(SQRT_M1 * u / v)); never negative."""
    r = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    check = v * r * r % P
    correct, flipped, flipped_i = check == u % P, check == -u % P, check == -u * SQRT_M1 % P
    if flipped or flipped_i:
        r = r * SQRT_M1 % P
    return correct or flipped, absolute(r)


# RFC 9496 takes the odd one of the two.
SQRT_AD_MINUS_ONE = P - sqrt_ratio(-1 * D - 1, 1)[1]
INVSQRT_A_MINUS_D = sqrt_ratio(1, -1 - D)[1]


def encode(point):
    x0, y0, z0, t0 = point
    u1, u2 = (z0 + y0) * (z0 - y0) % P, x0 * y0 % P
    invsqrt = sqrt_ratio(1, u1 * u2 * u2)[1]
    den1, den2 = invsqrt * u1 % P, invsqrt * u2 % P
    z_inv = den1 * den2 * t0 % P
    rotate = is_negative(t0 * z_inv)
    x, y = (y0 * SQRT_M1, x0 * SQRT_M1) if rotate else (x0, y0)
    den_inv = den1 * INVSQRT_A_MINUS_D if rotate else den2
    if is_negative(x * z_inv):
        y = -y
    return absolute(den_inv * (z0 - y)).to_bytes(32, "little")


def decode(data):
    s = int.from_bytes(data, "little")
    if s >= P or is_negative(s):
        return None
    ss = s * s % P
    u1, u2 = (1 - ss) % P, (1 + ss) % P
    v = (-D * u1 * u1 - u2 * u2) % P
    square, invsqrt = sqrt_ratio(1, v * u2 * u2)
    den_x, den_y = invsqrt * u2 % P, invsqrt * invsqrt * u2 * v % P
    x, y = absolute(2 * s * den_x), u1 * den_y % P
    t = x * y % P
    if not square or is_negative(t) or y == 0:
        return None
    return (x, y, 1, t)


def _map(data):
    t = int.from_bytes(data, "little") & (2**255 - 1)
    r = SQRT_M1 * t * t % P
    u, c = (r + 1) * (1 - D * D) % P, -1 % P
    v = (c - r * D) * (r + D) % P
    square, s = sqrt_ratio(u, v)
    if not square:
        s, c = -absolute(s * t) % P, r
    n = (c * (r - 1) * (D - 1) ** 2 - v) % P
    w0, w1 = 2 * s * v % P, n * SQRT_AD_MINUS_ONE % P
    w2, w3 = (1 - s * s) % P, (1 + s * s) % P
    return (w0 * w3 % P, w2 * w1 % P, w1 * w3 % P, w0 * w2 % P)


def derive(data):
    """A point from 64 bytes."""
    return add(_map(data[:32]), _map(data[32:]))


def add(p, q):
    return ed25519._add(p, q)


def multiply(scalar, point):
    return ed25519._multiply(scalar % L, point)


def combine(points, scalars):
    total = IDENTITY
    for point, scalar in zip(points, scalars):
        total = add(total, multiply(scalar, point))
    return total


def same(p, q):
    return encode(p) == encode(q)
