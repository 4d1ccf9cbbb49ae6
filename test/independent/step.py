#!/usr/bin/env python3
"""W12 of docs/spec/work.md: the proof of a whole transition of training, checked. `step.py CASES` prints a verdict for each.

A case holds the specification, orderId, seed and transition of a work, which products are proven, the roots of the chain
before and after with the figures, what was said before the draw, the nonce, and both parts of the proof.
"""
import hashlib
import json
import math
import struct
import sys
from fractions import Fraction

import step_opening
import step_ops
import step_program
import step_products
from step_opening import Layout, Stream, coordinates, from_below
from step_ops import Fault, Tensor
from step_plan import Plan, Refused

LEAF = 1024


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def leaves_of_row(shape):
    return -(-shape[2] * step_ops.SIZES[shape[0]] // LEAF)


def tree_root(hashes):
    size = 2 ** coordinates(len(hashes))
    level = list(hashes) + [bytes(32)] * (size - len(hashes))
    while len(level) > 1:
        level = [sha256(b"\1", a, b) for a, b in zip(level[::2], level[1::2])]
    return level[0]


def whole_root(shape, data):
    """W4.1"""
    each = shape[2] * step_ops.SIZES[shape[0]]
    leaves = [sha256(b"\0", data[row * each + at:row * each + min(at + LEAF, each)])
              for row in range(shape[1]) for at in range(0, each, LEAF)]
    return tree_root(leaves)


class Opened:
    """Some leaves of a tensor under its root."""

    def __init__(self, shape, regions, root, stream, code, what=""):
        self.shape, self.size = shape, step_ops.SIZES[shape[0]]
        per = leaves_of_row(shape)
        wanted = set()
        for row, rows, column, columns in regions:
            across = range(column * self.size // LEAF, ((column + columns) * self.size - 1) // LEAF + 1)
            wanted |= {(row + i) * per + at for i in range(rows) for at in across}
        self.leaves = {leaf: stream.take(self.length(leaf)) for leaf in sorted(wanted)}
        if any(data is None for data in self.leaves.values()):
            raise Refused(code, what)
        hashes = {leaf: sha256(b"\0", data) for leaf, data in self.leaves.items()}
        if from_below(hashes, stream, 2 ** coordinates(shape[1] * per)) != root:
            raise Refused(code, what)

    def length(self, leaf):
        return min(LEAF, self.shape[2] * self.size - leaf % leaves_of_row(self.shape) * LEAF)

    def region(self, place):
        row, rows, column, columns = place
        per, data = leaves_of_row(self.shape), b""
        for i in range(row, row + rows):
            have = b"".join(self.leaves.get(i * per + at, bytes(LEAF)) for at in range(per))
            data += have[column * self.size:(column + columns) * self.size]
        return step_ops.read((self.shape[0], rows, columns), data)


class Check:
    def __init__(self, case):
        text = case["specification"]
        self.said = json.loads(text)
        order, self.seed = bytes.fromhex(case["orderId"]), bytes.fromhex(case["seed"])
        self.work_id = sha256(b"tsw1/work", text.encode(), order, self.seed)
        self.t, parameters = case["transition"], self.said["parameters"]
        self.sequences = parameters["sequences"]
        whole, one = (step_program.transition(parameters, self.seed, self.t, n) for n in (self.sequences, 1))
        self.inputs = {given["name"]: bytes.fromhex(given["root"]) for given in self.said["inputs"]}
        state = [name for name in whole.there if name not in self.inputs]
        self.plan = Plan(whole, one, self.sequences, case["wanted"], self.inputs, state)
        self.shapes = self.plan.shapes
        self.before, self.after = bytes.fromhex(case["before"]), bytes.fromhex(case["after"])
        self.figures, self.nonce = case["figures"], bytes.fromhex(case["nonce"])
        self.root, self.roots = bytes.fromhex(case["matrixRoot"]), [bytes.fromhex(root) for root in case["roots"]]
        self.rest, self.products = Stream(bytes.fromhex(case["rest"])), bytes.fromhex(case["products"])
        kept = [(name, *self.plan.kept_shape(name)) for name in self.plan.kept]
        self.layout = Layout(kept)
        self.number_products()
        self.require_sure()

    def run(self):
        """In the order of W12.3.8, which decides which of several reasons is told."""
        self.join_chain()
        spelled = self.spell_said()
        self.drawn, self.ties, self.patches = self.plan.draws(sha256(b"tsw1/step-draw", spelled, self.nonce))
        self.open_products(spelled)
        self.open_known()
        self.open_shared()
        self.tied = {name: self.open_ties(name, of) for name, of in self.ties.items()}
        self.run_vectors()
        for patch in self.patches:
            self.run_patch(*patch)
        if not self.rest.is_done():
            raise Refused("PROOF_SIZE")
        for number in self.drawn:
            self.replay(number)

    # W12.3.3
    def join_chain(self):
        if len(self.roots) != len(self.plan.rooted) or any(len(root) != 32 for root in [self.root] + self.roots):
            raise Refused("ROOTS_MISSING")
        self.by_name = dict(zip(self.plan.rooted, self.roots))
        if tree_root([self.by_name[name] for name in self.plan.state]) != self.before:
            raise Refused("STATE_BEFORE_DIFFERS")
        if tree_root([self.by_name[name] for name in self.plan.after]) != self.after:
            raise Refused("STATE_AFTER_DIFFERS")
        if [sha256(b"\0", struct.pack("<I", bits)) for bits in self.figures] != [self.by_name[name] for name in self.plan.figures]:
            raise Refused("STATISTICS_DIFFER")

    def spell_said(self):
        figures = struct.pack("<%dQ" % len(self.figures), *self.figures)
        return b"".join([b"tsw1/said", self.before, self.after, self.root, figures] + self.roots)

    # W12.3.4
    def open_known(self):
        self.known = {}
        for step in self.plan.steps:
            if step.output not in self.plan.known:
                continue
            if self.plan.is_window(step):
                made = self.open_windows(step.inputs[1], self.known[step.inputs[0]].entries)
            else:
                made = self.run_known(step)
            self.known[step.output] = made

    def run_known(self, step):
        inputs = [self.known[name] for name in step.inputs]
        try:
            return step_ops.run(step.op, inputs, step.numbers, self.shapes[step.output])
        except Fault:
            raise Refused("INPUT_FAULT") from None

    def open_windows(self, name, rows):
        shape = self.shapes[name]
        regions = [(row, 1, 0, shape[2]) for row in rows]
        opened = Opened(shape, regions, self.inputs[name], self.rest, "INPUT_NOT_COMMITTED")
        found = Tensor((shape[0], len(rows), shape[2]), [x for region in regions for x in opened.region(region).entries])
        if shape[0] == "f32" and not all(math.isfinite(x) for x in found.entries):
            raise Refused("INPUT_FAULT")
        return found

    def open_shared(self):
        self.whole = {}
        for name in self.plan.vectors:
            shape = self.shapes[name]
            data = self.rest.take(shape[1] * shape[2] * step_ops.SIZES[shape[0]])
            if data is None or whole_root(shape, data) != self.by_name[name]:
                raise Refused("SHARED_NOT_COMMITTED")
            self.whole[name] = step_ops.read(shape, data)
        self.tables = {pair: self.open_table(*pair) for pair in self.plan.tables}

    def slice(self, tensor, name, number):
        """The part of a sequence of what lies by rows or by columns."""
        _, rows, width = self.plan.one.shapes[name]
        lies = self.plan.lies[name]
        if lies == "shared":
            return tensor
        return tensor.region((0, rows, number * width, width) if lies == "columns" else (number * rows, rows, 0, width))

    def open_table(self, by, name):
        rows = {row for number in self.drawn for row in self.slice(self.known[by], by, number).entries}
        shape = self.shapes[name]
        if any(row >= shape[1] for row in rows):
            raise Refused("SHARED_NOT_COMMITTED")
        regions = [(row, 1, 0, shape[2]) for row in rows]
        return Opened(shape, regions, self.by_name[name], self.rest, "SHARED_NOT_COMMITTED")

    def open_ties(self, name, of):
        width = self.plan.one.shapes[name][2]
        regions = [(row, 1, number * width, width) for number, rows in of.items() for row in rows]
        return Opened(self.shapes[name], regions, self.by_name[name], self.rest, "TIE_NOT_COMMITTED")

    def number_products(self):
        self.index = {name: i for i, name in enumerate(self.plan.kept)}
        self.sizes = [self.plan.kept_shape(name)[1:] for name in self.plan.kept]
        self.numbered = [(self.index[a], fa, self.index[b], fb) for (a, fa), (b, fb) in self.plan.operands]

    def claims_of(self, found):
        tensors, shapes = self.layout.tensors, self.sizes
        point = lambda name, size: found[name][:coordinates(size)]
        claims = [(tensors[at], point("r", shapes[at][0]), point("s", shapes[at][1]), value)
                  for step, value in zip(self.plan.products, found["results"]) for at in [self.index[step.output]]]
        return claims + [(tensors[at], point(row, shapes[at][0]), point(column, shapes[at][1]), value)
                         for (at, (row, column)), value in found["left"].items()]

    # W12.4.5
    def require_sure(self):
        most, places = step_products.sizes_of(self.sizes, self.numbered)
        named = {name: [(name, i) for i in range(count)] for name, count in zip("rsz", most)}
        claims = self.claims_of({**named, "results": [None] * len(self.numbered), "left": dict.fromkeys(places)})
        results = [self.sizes[self.index[step.output]] for step in self.plan.products]
        outer = max(coordinates(rows) + coordinates(width) for rows, width in results)
        rounds = (outer + len(results) - 1 + 2 * most[2]) * step_opening.NUMBER
        if rounds + step_opening.error(self.layout, claims) > Fraction(1, 2**100):
            raise Refused("TOO_BIG")

    # W12.2, and W12.1 below it
    def open_products(self, spelled):
        shapes, products = self.sizes, self.numbered
        statement = [self.work_id, struct.pack("<Q", self.t), self.root, self.layout.spelled(), spelled, self.nonce]
        length = 16 * step_products.said_count(shapes, products)
        found = step_products.follow(shapes, products, statement, self.products[:length])
        if isinstance(found, str):
            raise Refused(found)
        claims = self.claims_of(found)
        self.clear = step_opening.check(self.layout, self.root, found["state"], claims, self.asked(), self.products[length:])
        for step in self.plan.products:
            most = self.shapes[step.inputs[0]][2] * 127**2
            if any(abs(x) > most for row in self.clear[step.output].values() for x in row):
                raise Refused("RESULT_OUT_OF_RANGE")

    def asked(self):
        rows = {}
        for name in self.plan.kept:
            if self.plan.lies[name] != "shared":
                each = self.plan.kept_shape(name)[1] // self.sequences
                rows[name] = {number * each + i for number in self.drawn for i in range(each)}
        for step, place, regions, _ in self.patches:
            for name, region in list(zip(step.inputs, regions)) + [(step.output, place)]:
                if name in self.plan.kept:
                    rows.setdefault(name, set()).update(self.kept_rows(name, region))
        return rows

    def kept_rows(self, name, region):
        row, rows, column, columns = region
        first, count = (column, columns) if name in self.plan.kept_turned else (row, rows)
        return range(first, first + count)

    def in_clear(self, name, region):
        """A region, as the program has it, of a kept tensor."""
        row, rows, column, columns = region
        if name in self.plan.kept_turned:
            entries = [self.clear[name][j][i] for i in range(row, row + rows) for j in range(column, column + columns)]
        else:
            entries = [x for i in range(row, row + rows) for x in self.clear[name][i][column:column + columns]]
        return Tensor((self.shapes[name][0], rows, columns), entries)

    # W12.3.5 and W12.3.6
    def replay(self, number):
        plan, made = self.plan, {}
        for name in plan.kept:
            if name in plan.known and self.slice(self.known[name], name, number).entries != self.part_in_clear(name, number).entries:
                raise Refused("STEP_WRONG", name)
        for step, whole in zip(plan.one.steps, plan.steps):
            name = step.output
            if name in plan.results and plan.lies[name] == "rows":
                made[name] = self.part_in_clear(name, number)
            elif plan.lies[name] != "shared" and name not in plan.known and not plan.is_only_turned(step):
                made[name] = self.run_alone(step, whole, made, number)
        for name, of in self.ties.items():
            width = plan.one.shapes[name][2]
            for row in of[number]:
                own = made[name].region((row, 1, 0, width)).spell()
                if own != self.tied[name].region((row, 1, number * width, width)).spell():
                    raise Refused("COLUMNS_WRONG", name)

    def run_alone(self, step, whole, made, number):
        sizes = {name: size for name, size in step.numbers.items() if name in ("batch", "rows", "width", "count")}
        shape = self.plan.one.shapes[step.output]
        numbers = {**whole.numbers, **sizes, "lane": self.lanes(step.output, number, *shape[1:])}
        inputs = [self.operand(name, step.inputs[i - 1], made, number) for i, name in enumerate(step.inputs)]
        try:
            found = step_ops.run(step.op, inputs, numbers, shape)
        except Fault:
            raise Refused("STEP_WRONG") from None
        if step.output in self.plan.kept and found.entries != self.part_in_clear(step.output, number).entries:
            raise Refused("STEP_WRONG", step.output)
        return found

    def lanes(self, name, number, rows, width):
        if self.plan.lies[name] == "columns":
            return lambda i, j: i * self.sequences * width + number * width + j
        return lambda i, j: (number * rows + i) * width + j

    def part_in_clear(self, name, number):
        _, rows, width = self.plan.one.shapes[name]
        lies = self.plan.lies[name]
        return self.in_clear(name, (0, rows, number * width, width) if lies == "columns" else (number * rows, rows, 0, width))

    def operand(self, name, before, made, number):
        """An input of a step; `before` is the one before it, by which a table is looked up."""
        if name in made:
            return made[name]
        if name in self.known:
            return self.slice(self.known[name], name, number)
        if name in self.whole:
            return self.whole[name]
        if (before, name) in self.tables:
            shape = self.shapes[name]
            return self.tables[before, name].region((0, shape[1], 0, shape[2]))
        return step_ops.turned(self.operand(self.plan.maker[name].inputs[0], None, made, number))

    # W12.3.7
    def run_vectors(self):
        held = {**self.known, **self.whole}
        for step in self.plan.over_vectors:
            if not self.makes(step, [held[name] for name in step.inputs], step.numbers, held[step.output]):
                raise Refused("VECTOR_WRONG", step.output)

    def makes(self, step, inputs, numbers, wanted):
        try:
            return step_ops.run(step.op, inputs, numbers, wanted.shape).spell() == wanted.spell()
        except Fault:
            return False

    def run_patch(self, step, place, regions, numbers):
        touched = [self.touched(step, *each) for each in zip(step.inputs + [step.output], regions + [place])]
        if not self.makes(step, touched[:-1], {**step.numbers, **numbers}, touched[-1]):
            raise Refused("PATCH_WRONG", step.output)

    def touched(self, step, name, region):
        if name in self.whole:
            return self.whole[name].region(region)
        if name in self.known:
            return self.known[name].region(region)
        if name in self.plan.kept:
            return self.in_clear(name, region)
        opened = Opened(self.shapes[name], [region], self.by_name[name], self.rest, "PATCH_NOT_COMMITTED", step.output)
        return opened.region(region)


def main(path):
    with open(path) as file:
        for case in json.load(file):
            print(json.dumps(verdict(case)), flush=True)


def verdict(case):
    """Null, or why it is refused: the code, and the tensor where one is wrong."""
    try:
        Check(case).run()
    except Refused as refused:
        return {"code": refused.code, **({"tensor": refused.what} if refused.what else {})}
    return None


if __name__ == "__main__":
    main(sys.argv[1])
