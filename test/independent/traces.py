"""W4.3.3 and W4.4 of docs/spec/work.md: the trees over the roots of a segment, and the evidence of a receipt as bytes."""
import hashlib
import struct

NONE = bytes(32)


def u32(value):
    return struct.pack("<I", value)


def levels(hashes):
    """Every level of a padded tree, leaves first; one root of zeros where there is no leaf."""
    size = 1
    while size < len(hashes):
        size *= 2
    found = [list(hashes) + [NONE] * (size - len(hashes))]
    while len(found[-1]) > 1:
        below = found[-1]
        found.append([hashlib.sha256(b"\1" + below[i] + below[i + 1]).digest() for i in range(0, len(below), 2)])
    return found


def shown(hashes, wanted):
    """Some leaves of a tree, then the hashes that complete them, level by level (W4.1.3)."""
    if not wanted:
        return b""
    out = [hashes[i] for i in sorted(wanted)]
    known = set(wanted)
    for level in levels(hashes)[:-1]:
        out += [level[i] for i in sorted(i ^ 1 for i in known if i ^ 1 not in known)]
        known = {i // 2 for i in known}
    return b"".join(out)


def segment(state, given, transitions, said, touched):
    """transitions: (outputs of every step, state after, figures); said: the roots in the order of the trace."""
    said = list(said)
    place = {name: ("given", name) for name in given}
    before = [said.pop(0) for _ in state]
    steps, last = [], {}
    roots = {("given", name): root for name, root in given.items()}
    homes = [("before", i) for i in range(len(state))]
    for i, root in enumerate(before):
        roots[("before", i)] = root
    for number, (outputs, after, figures) in enumerate(transitions):
        here = dict(place)
        here.update(zip(state, homes))
        is_last = number == len(transitions) - 1
        for name in outputs:
            if is_last and name in after:
                home = ("after", after.index(name))
            else:
                home = ("steps", len(steps))
                steps.append(None)
            here[name] = home
            roots[home] = said.pop(0)
            if home[0] == "steps":
                steps[home[1]] = roots[home]
        homes = [here[name] for name in after]
        last = here if is_last else last
        if number == touched[0]:
            opened = {here[name] for name in touched[1]}
    assert not said
    made = [roots[home] for home in homes]
    opened |= {last[name] for name in transitions[-1][2]}
    for i, home in enumerate(homes):
        if home != ("after", i):
            opened |= {("after", i), home}
    trees = {"before": before, "steps": steps, "after": made}
    top = [levels(trees[name])[-1][0] for name in ("before", "steps", "after")]
    counts = b"".join(u32(len(trees[name])) for name in ("before", "steps", "after"))
    proof = b"".join(shown(trees[name], [i for tree, i in opened if tree == name])
                     for name in ("before", "steps", "after"))
    return {"beforeRoot": top[0].hex(), "stepsRoot": top[1].hex(), "afterRoot": top[2].hex(),
            "traceRoot": hashlib.sha256(b"tsw1/trace" + counts + b"".join(top)).digest().hex(), "shown": proof.hex()}


def evidence(marks, segments):
    out = u32(len(marks)) + b"".join(root for root, _ in marks) + u32(len(marks[0][1]) if marks else 0)
    out += b"".join(u32(figure) for _, figures in marks for figure in figures) + u32(len(segments))
    for number, steps_root, trace, patches in sorted(segments):
        out += u32(number + 1) + steps_root + u32(len(trace)) + trace + u32(len(patches))
        for leaves, hashes in patches:
            out += u32(len(leaves)) + leaves + u32(len(hashes)) + hashes
    return out


SEGMENTS = {
    "one output, no state": ([], {"a": 1}, [(["c"], ["c"], [])], (0, ["a", "c"])),
    "a step and its state": (["w"], {"x": 1}, [(["y", "w2"], ["w2"], ["y"])], (0, ["w", "y"])),
    "three transitions, of which the second is opened": (
        ["w", "m"], {"x": 1},
        [(["g", "m1", "w1", "f"], ["w1", "m1"], ["f"])] * 3, (1, ["w", "x", "g"])),
    "a state that keeps a tensor, has one twice and one that was given": (
        ["w", "k", "t", "x2"], {"x": 1},
        [(["g", "w1"], ["w1", "k", "w1", "x"], ["g"]), (["h", "w1", "z"], ["w1", "k", "w1", "x2"], [])], (0, ["g", "k"])),
    "forty outputs": (
        ["s%d" % i for i in range(5)], {},
        [(["o%d" % i for i in range(40)], ["o%d" % i for i in range(7, 12)], ["o39"])], (0, ["s2", "o3", "o9", "o20"])),
}


def cases(seed):
    traces = []
    for name, (state, given, transitions, touched) in SEGMENTS.items():
        count = len(state) + sum(len(outputs) for outputs, _, _ in transitions)
        said = [seed("trace %s %d" % (name, i)) for i in range(count)]
        roots = {of: seed("trace given %s" % of) for of in given}
        made = segment(state, roots, transitions, said, touched)
        traces.append({"name": name, "state": state, "given": {of: root.hex() for of, root in roots.items()},
                       "transitions": [{"outputs": o, "after": a, "figures": f} for o, a, f in transitions],
                       "said": [root.hex() for root in said],
                       "touched": {"transition": touched[0], "names": touched[1]}, **made})
    marks = [(seed("mark %d" % i), [i, 0xffffffff - i]) for i in range(3)]
    segments = [(number, seed("steps %d" % number), seed("trace %d" % number)[:7 * (number + 1)],
                 [(seed("leaves %d" % i)[:5 + i], seed("hashes %d" % i)[:i]) for i in range(number + 1)])
                for number in (-1, 0, 2)]
    written = {"marks": [{"root": root.hex(), "figures": figures} for root, figures in marks],
               "segments": [{"segment": n, "stepsRoot": r.hex(), "trace": t.hex(),
                             "patches": [{"leaves": a.hex(), "proof": b.hex()} for a, b in patches]}
                            for n, r, t, patches in segments],
               "bytes": evidence(marks, segments).hex()}
    return {"traces": traces, "evidence": [written]}
