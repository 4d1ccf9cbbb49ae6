"""Flow on a D3Q19 lattice, docs/spec/work.md section W6, from the text: cell by cell, with no blocks until the end."""
from work import divide, f, lane

# W6.1.2
DIRECTIONS = [(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1), (1, 1, 0), (-1, -1, 0),
              (1, -1, 0), (-1, 1, 0), (1, 0, 1), (-1, 0, -1), (1, 0, -1), (-1, 0, 1), (0, 1, 1), (0, -1, -1),
              (0, 1, -1), (0, -1, 1)]
THIRD, NEAR, FAR = f(1 / 3), f(1 / 18), f(1 / 36)
SOLID, DRIVEN = 1, 1 << 19


def opposite(d):
    return DIRECTIONS.index(tuple(-c for c in DIRECTIONS[d]))


def add(*terms):
    total = terms[0]
    for term in terms[1:]:
        total = f(total + term)
    return total


# W6.2.1, W6.2.2
def density(cell):
    return add(cell[0], *[f(cell[k] + cell[k + 1]) for k in range(1, 19, 2)])


def momentum(cell):
    e = [0] + [f(cell[k] - cell[k + 1]) for k in range(1, 19, 2)]
    return (add(e[1], e[4], e[5], e[6], e[7]), add(e[2], e[4], -e[5], e[8], e[9]), add(e[3], e[6], -e[7], e[8], -e[9]))


def square(v):
    return f(f(f(v[0] * v[0]) + f(v[1] * v[1])) + f(v[2] * v[2]))


# W6.2.3
def equilibrium(rho, u):
    q = f(1 - f(1.5 * square(u)))
    x, y, z = u
    along = [x, y, z, f(x + y), f(x - y), f(x + z), f(x - z), f(y + z), f(y - z)]
    out = [f(f(THIRD * rho) * q)]
    for k, c in enumerate(along):
        w = f((NEAR if k < 3 else FAR) * rho)
        a = f(w * f(q + f(f(4.5 * c) * c)))
        b = f(f(3 * c) * w)
        out += [f(a + b), f(a - b)]
    return out


# W6.2.4
def collide(cell, omega, push):
    rho = density(cell)
    r = divide(1.0, rho)
    u = [f(f(j * r) + p) for j, p in zip(momentum(cell), push)]
    return [f(x + f(omega * f(to - x))) for x, to in zip(cell, equilibrium(rho, u))]


# W6.1.3
def place(size, x, y, z):
    bx, by = size[0] // 4, size[1] // 4
    return ((z // 4 * by + y // 4) * bx + x // 4, z % 4 * 16 + y % 4 * 4 + x % 4)


def cells_of(size):
    return [(x, y, z) for z in range(size[2]) for y in range(size[1]) for x in range(size[0])]


def step(size, rows, flags, omega, velocity, push):
    """Rows of 64 populations, 19 for each block, one transition on (W6.2.5)."""
    out = [[0.0] * 64 for _ in rows]
    for at in cells_of(size):
        block, i = place(size, *at)
        flag = flags[block][i]
        cell = []
        for d, c in enumerate(DIRECTIONS):
            there, j = place(size, *[(p - q) % n for p, q, n in zip(at, c, size)])
            cell.append(rows[19 * block + opposite(d)][i] if d and flag >> d & 1 else rows[19 * there + d][j])
        cell = equilibrium(1.0, velocity) if flag & DRIVEN else collide(cell, omega, push)
        for d in range(19):
            out[19 * block + d][i] = 0.0 if flag & SOLID else cell[d]
    return out


def begin(first, flags, field, velocity, noise, key):
    """W6.3: blocks `first` and on; field rows are density and velocity."""
    rows = []
    for b, block in enumerate(flags):
        cells = []
        for i, flag in enumerate(block):
            n = ((first + b) * 64 + i) * 4
            drawn = [f(f(f(lane((*key, 0, 0), n + k) + 0.5) * 2.0 ** -16) - 0.5) for k in range(3)]
            u = [f(v + f(noise * x)) for v, x in zip(velocity, drawn)]
            rho = 1.0
            if field:
                rho, *u = [field[4 * b + k][i] for k in range(4)]
            if flag & DRIVEN:
                rho, u = 1.0, velocity
            cells.append([0.0] * 19 if flag & SOLID else equilibrium(rho, u))
        rows += [[cell[d] for cell in cells] for d in range(19)]
    return rows


def figures(rows, total):
    """W6.2.6: mass and energy of each block; `total` sums as W2.5 says."""
    mass, energy = [], []
    for b in range(0, len(rows), 19):
        cells = [[rows[b + d][i] for d in range(19)] for i in range(64)]
        rho = [density(cell) for cell in cells]
        mass.append(total(rho))
        inverse = [divide(1.0, x) if x > 0 else 0.0 for x in rho]
        energy.append(total([f(f(0.5 * r) * square(momentum(cell))) for r, cell in zip(inverse, cells)]))
    return mass, energy
