"""What follows from the program of a transition, W12.2 and W12.3 of docs/spec/work.md: what is kept, said, known and drawn."""
import hashlib
import struct

import step_ops
from step_program import Step

LONGEST = 62411
DRAWN_SEQUENCES, TIED_ROWS = 2, 4


class Refused(Exception):
    def __init__(self, code, what=""):
        super().__init__(code)
        self.code, self.what = code, what


def pick(seed, what, index, below):
    """W4.3.2"""
    found = hashlib.sha256(b"tsw1/pick" + seed + what.encode() + b"\0" + struct.pack("<I", index)).digest()
    return below * int.from_bytes(found[:8], "little") >> 64


def some(seed, what, wanted, below):
    """So many without repeats, ascending; all of them where there are no more."""
    if below <= wanted:
        return list(range(below))
    drawn, index = set(), 0
    while len(drawn) < wanted:
        drawn.add(pick(seed, what, index, below))
        index += 1
    return sorted(drawn)


def with_sums(program):
    """W12.2.2: a product in one piece is a product, and its dequantisation."""
    steps = []
    for step in program.steps:
        is_one = step.op == "productPieces" and "batch" not in step.numbers
        if is_one and program.shapes[step.inputs[0]][2] <= step.numbers["piece"]:
            a, scales, b = step.inputs
            sums = step.output + "/sums"
            program.shapes[sums] = ("i32",) + program.shapes[step.output][1:]
            steps += [Step("product", [a, b], sums, {}), Step("dequantise", [sums, scales], step.output, {})]
        else:
            steps.append(step)
    program.steps = steps


class Plan:
    def __init__(self, whole, one, sequences, wanted, given, state):
        with_sums(whole)
        with_sums(one)
        self.steps, self.shapes, self.one = whole.steps, whole.shapes, one
        self.sequences, self.given, self.state, self.after, self.figures = sequences, given, state, whole.after, whole.figures
        self.maker = {step.output: step for step in self.steps}
        self.lies = {name: self.lie(name) for name in self.shapes}
        self.known = set()
        is_proven = lambda s: s.op == "product" and not s.numbers and self.shapes[s.inputs[0]][2] <= LONGEST
        self.products = [s for s in self.steps if is_proven(s) and (wanted == "all" or self.lies[s.output] == "shared")]
        self.results = {s.output for s in self.products}
        for step in self.steps:
            is_made = all(name in self.known for name in step.inputs) or self.is_window(step)
            if is_made and step.output not in self.results and self.lies[step.output] != "columns":
                self.known.add(step.output)
        self.readers = {}
        for step in self.steps:
            for name in step.inputs:
                self.readers.setdefault(name, []).append(step)
        self.keep()
        self.share()

    def lie(self, name):
        (_, rows, width), (_, one_rows, one_width) = self.shapes[name], self.one.shapes[name]
        if (rows, width) == (one_rows, one_width):
            return "shared"
        if (rows, width) == (one_rows * self.sequences, one_width):
            return "rows"
        if (rows, width) == (one_rows, one_width * self.sequences):
            return "columns"
        raise Refused("BAD_SHAPE", name)

    def is_window(self, step):
        """W12.3.4: rows of an input, taken by numbers that are known."""
        return step.op == "embed" and step.inputs[0] in self.known and step.inputs[1] in self.given and len(step.inputs) == 2

    # W12.2.3
    def is_copy(self, name):
        step = self.maker.get(name)
        return step is not None and step.op == "transpose" and "batch" not in step.numbers

    def original(self, name):
        """What is kept in the place of an operand, and whether the operand is that turned."""
        if self.is_copy(name):
            found, is_turned = self.original(self.maker[name].inputs[0])
            return found, not is_turned
        return name, name in self.kept_turned

    def keep(self):
        is_rounded = lambda s: s.op == "quantise" and self.is_copy(s.inputs[0])
        self.kept_turned = {s.output for s in self.steps if is_rounded(s)}
        self.operands = [[self.original(name) for name in step.inputs] for step in self.products]
        wanted = {name for pair in self.operands for name, _ in pair} | self.results
        there = [name for name in self.shapes if name in wanted]
        order = list(self.given) + list(self.state) + [step.output for step in self.steps]
        there.sort(key=order.index)
        self.kept = [name for kind in ("i8", "i32") for name in there if self.shapes[name][0] == kind]

    def kept_shape(self, name):
        kind, rows, width = self.shapes[name]
        return (kind, width, rows) if name in self.kept_turned else (kind, rows, width)

    # W12.3.3 and W12.3.7
    def is_only_turned(self, step):
        return self.is_copy(step.output) and all(reader.op == "product" for reader in self.readers[step.output])

    def share(self):
        is_it = lambda s: self.lies[s.output] == "shared" and s.output not in self.results | self.known
        self.shared = [step for step in self.steps if is_it(step) and not self.is_only_turned(step)]
        touched = {name for step in self.shared for name in step.inputs + [step.output]} - self.known - set(self.kept)
        made = [step.output for step in self.steps if step.output in touched]
        self.rooted = list(self.state) + made
        is_vector = lambda name: self.lies[name] == "shared" and 1 in self.shapes[name][1:]
        alone = [step for step in self.steps if step.op == "product" and step.output not in self.results]
        weights = {self.original(name)[0] for step in alone for name in step.inputs if self.lies[name] == "shared"}
        self.vectors = [name for name in self.rooted if is_vector(name) or name in weights]
        held = set(self.vectors) | self.known
        is_over_vectors = lambda step: all(name in held for name in step.inputs + [step.output])
        self.over_vectors = [step for step in self.shared if is_over_vectors(step)]
        self.patched = [step for step in self.shared if not is_over_vectors(step)]
        self.tied = [name for name in self.rooted if self.lies[name] == "columns"]
        lookups = [step for step in self.steps if step.op == "embed" and not self.is_window(step)]
        pairs = [pair for step in lookups for pair in zip(step.inputs[::2], step.inputs[1::2])]
        self.tables = [(by, name) for by, name in pairs if name in self.rooted]

    def draws(self, seed):
        patches = []
        for number, step in enumerate(self.patched):
            count = step_ops.PATCHES[step.op][0](self.shapes[step.output])
            index = pick(seed, "patch", number, count)
            inputs = [self.shapes[name] for name in step.inputs]
            patches.append((step, *step_ops.PATCHES[step.op][1](inputs, self.shapes[step.output], step.numbers, index)))
        drawn = some(seed, "sequence", DRAWN_SEQUENCES, self.sequences)
        rows = lambda name, q: some(seed, "tie %d %s" % (q, name), TIED_ROWS, self.shapes[name][1])
        ties = {name: {number: rows(name, q) for q, number in enumerate(drawn)} for name in self.tied}
        return drawn, ties, patches
