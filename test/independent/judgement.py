"""C6 and C7: every figure that follows from the evidence and the document."""
import bisect
import math
from fractions import Fraction

from evidence import class_of
from identity import added
from inferred import check_inferred
from refused import require
from shape import check_shape, is_whole
from tsp1 import FILLS

LEAST_US = {"tiny": (0, 0, 0), "custom": (0, 0, 0), "devnet": (1_500_000,) * 2 + (0,), "mainnet": (1_500_000, 10_000_000, 2_000_000)}
MOST_COUNT = 2**53 - 1
HOST_BYTES_PER_SECOND = 64_000_000_000


def work_of(part):
    return 2 * part.asked["m"] * part.asked["n"] * part.asked["k"]


def fill_tiles(part, device):
    return part.tiles * part.kept(device)


def work_per_round(part, device):
    if part.kind in ("rounds", "bind"):
        return work_of(part)
    return (2 if part.kind in FILLS else 1) * 2048 * fill_tiles(part, device)


def figure(part, device):
    asked, last = part.asked, part.entries[device]["arrivalsUs"][-1]
    elapsed = max(1, last - (part.given["zSentUs"] or 0))
    total = asked["rounds"] * work_per_round(part, device)
    return {"part": part.index, "kind": part.kind, "precision": asked["precision"], "device": device,
            "elapsedUs": elapsed, "perSecond": min(MOST_COUNT, total * 10**6 // elapsed),
            "heldBytes": 2048 * fill_tiles(part, device) if part.kind in FILLS else 0}


def check_figures(predicate, parts):
    figures = [figure(part, device) for part in parts for device in sorted(part.entries)]
    require(figures == predicate["figures"], "WRONG_FIGURES", "figures that do not follow from the evidence")
    return figures


class Facts:
    """What C7 says of the parts, by kind."""

    def __init__(self, challenge, parts, figures):
        self.everyone = (1 << challenge["devices"]) - 1
        self.version = challenge["version"]
        self.parts = parts
        self.figures = {(entry["part"], entry["device"]): entry for entry in figures}
        together = [part for part in parts if part.asked["mask"] == self.everyone]
        self.first, self.sustained = {}, None
        for part in together:
            if part.kind == "rounds":
                if part.asked["precision"] not in self.first:
                    self.first[part.asked["precision"]] = part
                elif self.sustained is None:
                    self.sustained = part
        self.by_kind = {}
        for part in together:
            self.by_kind.setdefault("memory" if part.kind in FILLS else part.kind, part)

    def repeats(self, part):
        """Whether an earlier part of all devices had its precision."""
        return part.kind == "rounds" and self.first[part.asked["precision"]] is not part

    def shown(self, part, device):
        return self.figures[part.index, device]["perSecond"]

    def peak(self, part, device):
        """C7: the most that is known of a rate, for what a device could have recomputed."""
        return max(self.shown(part, device), self.rate(part, device))

    def rate(self, part, device):
        """C7: the counted rate."""
        start = part.given["zSentUs"] or 0
        skip = part.kept if part.kind in FILLS else lambda _: 0
        timed = {name: [a - start for a in entry["arrivalsUs"][skip(name):]] for name, entry in part.entries.items()}
        if self.version > 1:
            return bound_rate(part, timed, device)
        first_done = max(1, min(arrivals[-1] for arrivals in timed.values()))
        rounds = min(part.asked["rounds"], 1 + sum(1 for arrival in timed[device] if arrival <= first_done))
        return min(self.shown(part, device), rounds * work_per_round(part, device) * 10**6 // first_done)

    def seconds_per_pass(self, part, device):
        """Of memories that were read together, by the device that took longest."""
        read = part.entries if part.kind == "memories" else [device]
        return max(self.figures[part.index, one]["elapsedUs"] for one in read) / 1e6 / part.asked["rounds"]

    def alone(self, device):
        found = [p for p in self.parts if p.kind == "rounds" and p.asked["mask"] == 1 << device != self.everyone]
        return self.rate(found[0], device) if found else None


def bound_rate(part, timed, device):
    """C7, version 2: this device's share of the largest sum of work arrived over time."""
    half = min(arrivals[-1] for arrivals in timed.values()) / 2
    instants = sorted({max(1, at) for arrivals in timed.values() for at in arrivals if max(1, at) >= half})
    work = {name: work_per_round(part, name) for name in timed}

    def done(name, instant):
        return work[name] * bisect.bisect_right(timed[name], instant)

    # max takes the first of equals: the earliest instant.
    best = max(instants, key=lambda instant: Fraction(sum(done(name, instant) for name in timed), instant))
    return min(MOST_COUNT, done(device, best) * 10**6 // best)


def sustained_curve(part, device):
    arrivals = part.entries[device]["arrivalsUs"]
    gaps = [max(1, b - a) for a, b in zip([0] + arrivals, arrivals)]
    ordered, third = sorted(gaps), max(1, len(gaps) // 3)

    def rate(rounds, micros):
        return math.floor(float(rounds) * work_of(part) * 1e6 / micros)

    count = min(60, len(gaps))
    shares = [gaps[i * len(gaps) // count:(i + 1) * len(gaps) // count] for i in range(count)]
    median = ordered[len(ordered) // 2]
    return {"precision": part.asked["precision"], "medianPerSecond": rate(1, median),
            "lowPerSecond": rate(1, ordered[math.floor(0.95 * len(ordered))]), "leastPerSecond": rate(1, ordered[-1]),
            "lastShare": 1000 * sum(gaps[:third]) // sum(gaps[-third:]),
            "dips": sum(1 for gap in gaps if gap > 1.5 * median),
            "points": [rate(len(share), sum(share)) for share in shares]}


def memory_facts(facts, device):
    part = facts.by_kind.get("memory")
    if part is None:
        return None
    entry = facts.figures[part.index, device]
    int8 = facts.first.get("int8")
    floor = None
    if int8 is not None:
        supplied = (HOST_BYTES_PER_SECOND + facts.peak(int8, device) / part.asked["k"]) * facts.seconds_per_pass(part, device)
        floor = max(0, math.floor(entry["heldBytes"] - supplied))
    return {"heldBytes": entry["heldBytes"], "perSecond": facts.rate(part, device), "floorBytes": floor}


def device_facts(facts, device):
    bind, link, int8 = facts.by_kind.get("bind"), facts.by_kind.get("link"), facts.first.get("int8")
    bind_rate = facts.rate(bind, device) if bind else None
    int8_rate = facts.rate(int8, device) if int8 else 0
    share = 1000 * bind_rate // int8_rate if bind and int8_rate else None
    curve = None
    if facts.sustained:
        mean = facts.shown(facts.sustained, device)
        curve = {**sustained_curve(facts.sustained, device), "perSecond": min(mean, facts.rate(facts.sustained, device))}
        if facts.version > 1:
            peak = facts.rate(facts.first[facts.sustained.asked["precision"]], device)
            curve["peakShare"] = 1000 * mean // peak if peak else 0
    return {"device": device, "rates": {name: facts.rate(part, device) for name, part in facts.first.items()},
            "classes": {name: part.asked["m"] for name, part in facts.first.items()}, "sustained": curve,
            "memory": memory_facts(facts, device), "bindPerSecond": bind_rate, "bindShare": share,
            "alonePerSecond": facts.alone(device), "linkPerSecond": facts.rate(link, device) if link else None}


def scaling(facts, devices):
    alone = [facts.alone(device) for device in range(devices)]
    if None in alone or not facts.first:
        return None
    together = next(iter(facts.first.values()))
    rates = [facts.rate(together, device) for device in range(devices)]
    return min(1000, math.floor(1000 * added(rates) / added(alone)))


def too_short(facts, preset, round_trip):
    if facts.version > 1 and any(part.asked["rounds"] < (2 if preset == "tiny" else 8) for part in facts.parts):
        return True
    rounds, sustained, passes = LEAST_US[preset]
    passes = max(passes, 50 * round_trip) if preset == "mainnet" else passes
    for (index, _), entry in facts.figures.items():
        part = facts.parts[index]
        if part.asked["mask"] == facts.everyone and part.kind != "link":
            least = passes if part.kind in FILLS else sustained if facts.repeats(part) else rounds
            if entry["elapsedUs"] < least:
                return True
    return False


def check_judgement(challenge, predicate, parts, figures):
    """Everything C7 derives; from version 2 on also what follows from the catalogue inside, but for the count."""
    given, facts = predicate["judgement"], Facts(challenge, parts, figures)
    require(given["outcome"] == "accepted", "REJECTED", "the validator rejected this run")
    require(given["reason"] is None, "WRONG_JUDGEMENT", "accepted with a reason")
    require(not too_short(facts, predicate["preset"], predicate.get("roundTripUs", 0)), "TOO_SHORT", "a timed part was too short")
    check_shape(given, predicate, challenge["devices"], challenge["version"])
    require(given["scaling"] == scaling(facts, challenge["devices"]), "WRONG_JUDGEMENT", "scaling")
    is_gpu = class_of(predicate["claims"]["inventory"]["devices"][0]) == "gpu"
    if challenge["version"] > 1 and is_gpu and predicate["preset"] == "mainnet":
        check_inferred(predicate, facts, [device_facts(facts, device) for device in range(challenge["devices"])])
    for device, shown in enumerate(given["devices"]):
        expected = device_facts(facts, device)
        if expected["memory"] is not None:
            expected["memory"] = _memory_as_shown(facts, device, shown)
        shown = {name: value for name, value in shown.items() if name != "identity"}
        for name, value in expected.items():
            same = shown[name] == value and _kinds(shown[name]) == _kinds(value)
            require(same, "WRONG_JUDGEMENT", "device %d: %s is %r, follows as %r" % (device, name, shown[name], value))


def _kinds(value):
    """Python calls True equal to 1; certificates do not."""
    if isinstance(value, dict):
        return {name: _kinds(inner) for name, inner in value.items()}
    return [_kinds(inner) for inner in value] if isinstance(value, list) else isinstance(value, bool)


def _memory_as_shown(facts, device, shown):
    """The memory entry that follows, with what only the catalogue decides taken from the one shown.

    The catalogue may know a faster int8 peak or a faster link than was shown, which lowers the floor and never raises it.
    """
    status, memory = shown["identity"]["status"], shown["memory"] or {}
    follows = memory_facts(facts, device)
    most, floor = follows["floorBytes"], memory.get("floorBytes")
    if status != "cpu" and most is not None and is_whole(floor, 0, most):
        follows["floorBytes"] = floor
    proven = status == "identified" and memory.get("status") == "proven"
    return {**follows, "status": "proven" if proven else "held"}


def uncounted(devices):
    """C7: the sentence of `count` where no card is identified."""
    return "one device" if devices == 1 else "count claimed: %d devices answered in one window" % devices
