"""Proof of GPU, version 1, written from docs/spec/proof-of-gpu.md alone. Section numbers are that document's."""
import hashlib
import struct
from operator import mul

import float32

MASK32, MASK64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
TILE = 32
ZERO_NODE = bytes(32)

PRECISIONS = ("int8", "fp8", "bf16", "fp16", "fp32")  # the u8 of section 2 is the place in this list
BOUNDS = {"int8": (127, 127), "fp8": (15, 7), "bf16": (255, 63), "fp16": (2047, 15)}
KINDS = ("rounds", "memory", "bind", "link", "memories")
FILLS = ("memory", "memories")


def sha256(*pieces):
    return hashlib.sha256(b"".join(pieces)).digest()


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value)


def words_of(seed):
    return struct.unpack("<8I", seed)


# Section 3: entries.

def philox4x32(counter, key):
    """Ten rounds; the key is raised by the two Weyl constants before every round but the first."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        left, right = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = right >> 32 ^ c1 ^ k0, right & MASK32, left >> 32 ^ c3 ^ k1, left & MASK32
        k0, k1 = k0 + 0x9E3779B9 & MASK32, k1 + 0xBB67AE85 & MASK32
    return c0, c1, c2, c3


def block_words(seed, matrix, block):
    w = words_of(seed)
    return philox4x32((block & MASK32, block >> 32, matrix, w[2]), (w[0], w[1]))


def entries(seed, matrix, precision, first, count):
    """Entries first to first + count - 1. Integers, except fp32: integers in units of 2^-23."""
    if precision == "fp32":
        return _entries(seed, matrix, first, count, 4, lambda words: [(o >> 8) - (1 << 23) for o in words])
    bound = BOUNDS[precision][matrix]
    scale = 2 * bound + 1

    def from_words(words):
        lanes = (lane for o in words for lane in (o & 0xFFFF, o >> 16))
        return [(lane * scale >> 16) - bound for lane in lanes]

    return _entries(seed, matrix, first, count, 8, from_words)


def _entries(seed, matrix, first, count, per_block, from_words):
    found = []
    for block in range(first // per_block, (first + count - 1) // per_block + 1):
        found += from_words(block_words(seed, matrix, block))
    skip = first % per_block
    return found[skip:skip + count]


# Sections 5 and 6: tiles, as 1024 unsigned 32-bit values in row-major order.

def tile_count(m, n):
    return (m // TILE) * (n // TILE)


def tile_values(seed, precision, n, k, tile):
    """The elements v of one tile of C = A * B^T."""
    top, left = TILE * (tile // (n // TILE)), TILE * (tile % (n // TILE))
    rows = [entries(seed, 0, precision, (top + r) * k, k) for r in range(TILE)]
    columns = [entries(seed, 1, precision, (left + c) * k, k) for c in range(TILE)]
    if precision == "fp32":
        return [float32.chain(row, column) for row in rows for column in columns]
    return [sum(map(mul, row, column)) & MASK32 for row in rows for column in columns]


def mix32(x):
    x = (x ^ x >> 16) * 0x7FEB352D & MASK32
    x = (x ^ x >> 15) * 0x846CA68B & MASK32
    return x ^ x >> 16


MIXED_INDEX = [mix32(i) for i in range(TILE * TILE)]


def masks(salt, count=TILE * TILE):
    return [mix32(mixed ^ salt) for mixed in MIXED_INDEX[:count]]


def sums(xs):
    """(f0, f1) of the mixed words x."""
    return sum(xs) & MASK64, sum(x * x for x in xs) & MASK64


def fingerprint(seed, values):
    return sums([mix32(v ^ mask) for v, mask in zip(values, masks(words_of(seed)[3]))])


# Section 8: bind.

def bind_partner(seed, tile, tiles):
    w = words_of(seed)
    return mix32(mix32(tile ^ w[4]) ^ w[5]) * tiles >> 32


def bind_fingerprint(seed, values, partner_values):
    salted = masks(words_of(seed)[3])
    return sums([mix32((v ^ mask) + other & MASK32) for v, mask, other in zip(values, salted, partner_values)])


# Section 7: memory and link passes.

def kept_words(values):
    """The low 16 bits of every entry, two to a word, the even column in the low half."""
    return [values[i] & 0xFFFF | (values[i + 1] & 0xFFFF) << 16 for i in range(0, len(values), 2)]


def memory_partner(z, u, partner_tiles):
    w = words_of(z)
    return mix32(mix32(u ^ w[0]) ^ w[1]) * partner_tiles >> 32


def memory_fingerprint(z, own, partner):
    salted = masks(words_of(z)[2], 512)
    return sums([mix32((g ^ mask) + other & MASK32) for g, mask, other in zip(own, salted, partner)])


def pass_root(j, kept_round_roots):
    """Q_j from the G roots of one pass."""
    size = 1
    while size < len(kept_round_roots):
        size *= 2
    padded = list(kept_round_roots) + [ZERO_NODE] * (size - len(kept_round_roots))
    return sha256(b"tsp1/mem", u32(j), tree_levels(padded)[-1][0])


def next_pass(z, *q):
    return sha256(b"tsp1/pass", z, *q)


# Section 5: tree.

def leaf(tile, f0, f1):
    return sha256(b"\x00", u64(tile), u64(f0), u64(f1))


def node(left, right):
    return sha256(b"\x01", left, right)


def tree_levels(leaves):
    """All levels of the tree, leaves first; their number is a power of two."""
    levels = [list(leaves)]
    while len(levels[-1]) > 1:
        below = levels[-1]
        levels.append([node(below[i], below[i + 1]) for i in range(0, len(below), 2)])
    return levels


def tree_path(levels, index):
    """The siblings from the leaf upwards."""
    return [level[index >> depth ^ 1] for depth, level in enumerate(levels[:-1])]


def root_of_path(start, index, path):
    for depth, sibling in enumerate(path):
        start = node(sibling, start) if index >> depth & 1 else node(start, sibling)
    return start


# Section 4: challenge, seeds, query, draws.

def challenge_bytes(challenge):
    c = challenge
    out = [bytes([c["version"]]), c["runId"], c["validatorKey"], c["proverKey"], u32(c["devices"]), u32(len(c["parts"]))]
    for part in c["parts"]:
        out.append(bytes([KINDS.index(part["kind"]), PRECISIONS.index(part["precision"])]))
        out += [u32(part[name]) for name in ("m", "n", "k", "rounds", "openings", "mask", "limitMs", "openLimitMs")]
        out += [u32(kept) for kept in part["kept"]]
        out.append(part["nonceHash"])
    return b"".join(out)


def challenge_hash(canonical):
    return sha256(b"tsp1/challenge", canonical)


def nonce_hash(nonce):
    return sha256(b"tsp1/nonce", nonce)


def first_seed(x, s, part, device):
    return sha256(b"tsp1/seed", x, s, u32(part), u32(device))


def next_seed(seed, root):
    return sha256(b"tsp1/next", seed, root)


def series_seeds(first, roots):
    """The seed of every round, given the roots of the rounds; the last root makes no seed."""
    seeds = [first]
    for root in roots[:-1]:
        seeds.append(next_seed(seeds[-1], root))
    return seeds


def query(x, s, nonce, roots, z0=b""):
    """q; z0 is given for a memory part only. roots: device by device, each in the order of section 4.4."""
    return sha256(b"tsp1/query", x, s, nonce, z0, *roots)


def draw(q, device, opening, rounds, tiles):
    """(round, tile) of one opening; for memory and link (pass, u)."""
    h = sha256(b"tsp1/draw", q, u32(device), u32(opening))
    high, low = struct.unpack("<2Q", h[:16])
    return high * rounds >> 64, low % tiles
