"""Pictures, docs/spec/work.md section W7, from the text. No tree: the nearest of all triangles is looked for."""
import math

from work import divide, draw_block, f, larger, smaller

MASK32 = 0xFFFFFFFF
SLACK = float.fromhex("0x1.00001p+0")


def plus(a, b):
    return [f(x + y) for x, y in zip(a, b)]


def minus(a, b):
    return [f(x - y) for x, y in zip(a, b)]


def times(a, s):
    return [f(x * s) for x in a]


def each(a, b):
    return [f(x * y) for x, y in zip(a, b)]


def dot(a, b):
    return f(f(f(a[0] * b[0]) + f(a[1] * b[1])) + f(a[2] * b[2]))


def cross(a, b):
    return [f(f(a[i] * b[j]) - f(a[j] * b[i])) for i, j in ((1, 2), (2, 0), (0, 1))]


def root(x):
    return f(math.sqrt(x))


def unit(a, other):
    length = dot(a, a)
    return times(a, f(1 / root(length))) if length > 2.0 ** -40 else other


def share(word):
    return f((word >> 8) * 2.0 ** -24)


def horner(z2, *coefficients):
    q = float.fromhex(coefficients[0])
    for c in coefficients[1:]:
        q = f(f(q * z2) + float.fromhex(c))
    return q


def any_direction(a, b):
    quadrant = (b + 0x20000000 & MASK32) >> 30
    turn = b - (quadrant << 30) & MASK32
    turn -= 1 << 32 if turn >> 31 else 0
    r = f(f(turn) * float.fromhex("0x1.921fb6p-30"))
    z2 = f(r * r)
    s = f(r + f(f(r * z2) * horner(z2, "-0x1.a01a02p-13", "0x1.111112p-7", "-0x1.555556p-3")))
    c = f(1 + f(z2 * horner(z2, "0x1.a01a02p-16", "-0x1.6c16c2p-10", "0x1.555556p-5", "-0x1p-1")))
    sine, cosine = ((s, c), (c, -s), (-s, -c), (-c, s))[quadrant & 3]
    z = f(1 - f(2 * share(a)))
    radius = root(larger(f(1 - f(z * z)), 0.0))
    return [f(radius * cosine), f(radius * sine), z]


def box_of(triangle):
    corners = [triangle[:3], plus(triangle[:3], triangle[3:6]), plus(triangle[:3], triangle[6:9])]
    return [min(c[i] for c in corners) for i in range(3)], [max(c[i] for c in corners) for i in range(3)]


def enter(box, o, d):
    near, far = 0.0, math.inf
    for low, high, p, way in zip(*box, o, d):
        inverse = divide(1.0, 2.0 ** -60 if abs(way) < 2.0 ** -60 else way)
        one, two = f(f(low - p) * inverse), f(f(high - p) * inverse)
        near, far = larger(near, smaller(one, two)), smaller(far, larger(one, two))
    return near if near <= f(far * SLACK) else -1.0


def hit(triangle, o, d):
    e1, e2 = triangle[3:6], triangle[6:9]
    p, s = cross(d, e2), minus(o, triangle[:3])
    q, det = cross(s, e1), dot(e1, p)
    if det == 0:
        return -1.0
    r = divide(1.0, det)
    u, v, t = f(dot(s, p) * r), f(dot(d, q) * r), f(dot(e2, q) * r)
    return t if u >= 0 and v >= 0 and f(u + v) <= 1 and t > 0 else -1.0


def nearest(triangles, o, d):
    best = None
    for i, triangle in enumerate(triangles):
        near, t = enter(box_of(triangle), o, d), hit(triangle, o, d)
        if near >= 0 and t >= 0 and (best is None or larger(t, near) < best[0]):
            best = larger(t, near), i
    return best


def through(d, n, cosine, enters, chance):
    eta = f(2 / 3) if enters else 1.5
    sine2 = f(f(eta * eta) * f(1 - f(cosine * cosine)))
    c = f(1 - cosine)
    c2 = f(c * c)
    mirrored = f(f(0.04) + f(f(0.96) * f(f(c2 * c2) * c)))
    if sine2 > 1 or chance < mirrored:
        return plus(d, times(n, f(2 * cosine)))
    return plus(times(d, eta), times(n, f(f(eta * cosine) - root(f(1 - sine2)))))


def follow(scene, o, d, key, pixel, sample, bounces):
    triangles, kinds, materials, epsilon, zenith, horizon = scene
    light, left, rays = [0.0] * 3, [1.0] * 3, 0
    for bounce in range(bounces + 1):
        found = nearest(triangles, o, d)
        rays += 1
        if found is None:
            sky = plus(horizon, times(minus(zenith, horizon), larger(d[1], 0.0)))
            return plus(light, each(left, sky)), rays
        t, at = found
        material = materials[kinds[at]]
        light, left = plus(light, each(left, material[3:6])), each(left, material[:3])
        n = triangles[at][9:]
        enters = dot(d, n) < 0
        n = n if enters else times(n, -1.0)
        place, cosine = plus(o, times(d, t)), -dot(d, n)
        words = draw_block((*key, bounce, 0xFFFFFFFD), pixel | sample << 32)
        drawn = any_direction(words[0], words[1])
        if material[7] == 2:
            d = unit(through(d, n, cosine, enters, share(words[2])), n)
        elif material[7] == 1:
            d = unit(plus(plus(d, times(n, f(2 * cosine))), times(drawn, material[6])), n)
        else:
            d = unit(plus(n, drawn), n)
        side = -epsilon if dot(d, n) < 0 else epsilon
        if material[7] == 1 and side < 0:
            break
        o = plus(place, times(n, side))
    return light, rays


def tile(scene, camera, width, row, column, samples, bounces, key):
    eye, corner, right, down = [camera[i:i + 3] for i in range(0, 12, 3)]
    out, count = [], 0
    for i in range(64):
        x, y = 8 * column + i % 8, 8 * row + i // 8
        total = [0.0] * 3
        for sample in range(samples):
            words = draw_block((*key, MASK32, 0xFFFFFFFD), y * width + x | sample << 32)
            u, v = f(x + share(words[0])), f(y + share(words[1]))
            d = unit(plus(plus(corner, times(right, u)), times(down, v)), corner)
            light, rays = follow(scene, eye, d, key, y * width + x, sample, bounces)
            total, count = plus(total, light), count + rays
        out += [f(c / samples) for c in total]
    return out, count


def flat_tree(triangles):
    """The least of trees: every leaf after the other."""
    nodes = []
    for i, triangle in enumerate(triangles):
        low, high = box_of(triangle)
        nodes.append(low + high + [i + 1.0, float(i)])
    return nodes
