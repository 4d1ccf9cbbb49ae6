"""docs/spec/identity.md: expected values, likelihood, identity and memory."""
import hashlib
import math
import re

PROBLEMS = ("int8", "fp8", "bf16", "fp16", "fp32")
OTHER_UNITS = {
    "int8": (("fp16", 1), ("bf16", 1), ("fp32", 1)),
    "fp8": (("int8", 1), ("fp16", 1), ("bf16", 1), ("fp32", 1)),
    "bf16": (("fp16", 1), ("int8", 0.5), ("fp32", 1)),
    "fp16": (("bf16", 0.5), ("int8", 0.5), ("fp32", 1)),
    "fp32": (),
}
STRASSEN = ("bf16", "fp8")
RECOMPUTING = (("int8", 0), ("fp16", 4), ("bf16", 1), ("fp32", 4))
LINKS = {"pcie": 64e9, "nvlink": 75e9, "pcie6": 128e9, "c2c": 450e9}
EXCESS = 1.25
SPREAD = {"measured": 0.12, "datasheet": 0.15}
COMMON = 0.12
CHI_SQUARE = (0, 6.63, 9.21, 11.34, 13.28, 15.09, 16.81, 18.48, 20.09, 21.67, 23.21)


def text_of(value):
    """JSON as the hash of a catalogue wants it."""
    if isinstance(value, dict):
        return "{%s}" % ",".join("%s:%s" % (text_of(key), text_of(value[key])) for key in sorted(value))
    if isinstance(value, list):
        return "[%s]" % ",".join(map(text_of, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"%s"' % value.replace("\\", "\\\\").replace('"', '\\"')
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def catalogue_hash(catalogue):
    return hashlib.sha256(b"tsp1/catalogue" + text_of(catalogue).encode("ascii")).hexdigest()


def half_up(value):
    return math.floor(value + 0.5)


class Expected:
    def __init__(self, low, centre, high, basis):
        self.low, self.centre, self.high, self.basis = low, centre, high, basis

    def times(self, share):
        return Expected(self.low * share, self.centre * share, self.high * share, self.basis)


def expected_of(figures, fractions):
    plain = [figure for figure in figures if not figure.get("atLeast")]
    basis = "measured" if any(figure["basis"] == "measured" for figure in plain) else "datasheet"
    values = [figure["value"] for figure in plain if figure["basis"] == basis]
    if not values:
        return None
    low, high = min(values) * fractions[basis]["low"], max(values) * fractions[basis]["high"]
    at_least = max([figure["value"] for figure in figures if figure.get("atLeast")], default=0)
    return Expected(low, max(math.sqrt(low * high), at_least), max(high, at_least), basis)


class Model:
    """What the catalogue says of a card, worked out once."""

    def __init__(self, entry, rules):
        self.id, self.name, self.memory = entry["id"], entry["name"], entry["memoryBytes"]
        self.twins, self.link = entry["twins"], entry["hostLink"]
        self.is_reported = "reported" in entry
        self.reported = entry["reported"]["bytes"] if self.is_reported else math.floor(0.9915 * self.memory)
        self.alike = [self.id] + self.twins
        self.short = re.sub(r" \((?!one of).*\)$", "", self.name.removeprefix(entry["vendor"] + " "))
        line = "datasheetConsumer" if entry["line"] == "consumer" else "datasheetProfessional"
        usual = {"datasheet": rules["rate"][line], "measured": rules["rate"]["measured"]}
        self.fractions = {name: rules["fp32"] if name == "fp32" else usual for name in PROBLEMS}
        self.figures = {name: entry["rates"].get(name, []) for name in PROBLEMS}
        self.bandwidth = expected_of(entry["bandwidth"], rules["bandwidth"])
        self.own = {name: expected_of(self.figures[name], self.fractions[name]) for name in PROBLEMS}
        self.ways = {name: self._ways(name) for name in PROBLEMS}
        self.ceiling = {name: self._ceiling(name) for name in PROBLEMS}
        self.recomputes = max([high / 0.875 ** levels for unit, levels in RECOMPUTING for high in self._highs(unit)], default=0)

    def _ways(self, name):
        own = self.own[name]
        others = [self.own[unit].times(share) for unit, share in OTHER_UNITS[name] if self.own[unit]]
        others.sort(key=lambda way: -way.centre)
        if own is None:
            return [(way, 2) for way in others]
        return [(own, 0)] + [(way, 6) for way in others if way.centre > own.centre]

    def _ceiling(self, name):
        found = [high * share for unit, share in ((name, 1),) + OTHER_UNITS[name] for high in self._highs(unit)]
        return max(found, default=None)

    def _highs(self, unit):
        return [figure["value"] * self.fractions[unit][figure["basis"]]["high"] for figure in self.figures[unit]]

    def unreached(self, rates):
        """The first problem whose rate the card cannot reach."""
        for name in PROBLEMS:
            if name in rates and self.ceiling[name] is not None and rates[name] > self.ceiling[name] * EXCESS:
                return name
        return None


class Catalogue:
    def __init__(self, entries):
        self.models = [Model(entry, entries["rules"]) for entry in entries["models"]]
        self.by_id = {model.id: model for model in self.models}

    def buyer_name(self, cards, sold=()):
        """What a buyer calls these cards, of those that were sold where some were."""
        wanted = [name for name in cards if name in sold] or cards
        names = [model.short for model in self.models if model.id in wanted]
        return (", ".join(names[:-1]) + " or " + names[-1] if len(names) > 1 else names[0])[:120] if names else None


class Measured:
    """One device: values of 0 were not measured."""

    def __init__(self, given):
        self.rates = {name: given["rates"][name] for name in PROBLEMS if given.get("rates", {}).get(name)}
        self.order = [name for name in given.get("rates", {}) if given["rates"][name]]
        self.declined = given.get("declined") or []
        self.held, self.bandwidth = given.get("memoryBytes") or None, given.get("bandwidth") or None
        self.read = given.get("memoriesRead")
        self.bind, self.cpu = given.get("bindRate") or None, given.get("kind") == "cpu"
        self.classes = given.get("classes", {})
        self.sustained, self.scaling = given.get("sustainedShare"), given.get("scaling")

    def but(self, **changes):
        other = Measured({})
        other.__dict__ = {**self.__dict__, **changes}
        return other

    def rests_on(self):
        return self.order + ["memory"] * bool(self.held) + ["bandwidth"] * bool(self.bandwidth)


def impossible(model, measured):
    if measured.held is not None and measured.held > model.memory:
        return "MORE_MEMORY"
    if measured.held is not None and measured.held < 0.5 * model.memory:
        return "LESS_MEMORY"
    faster = model.unreached(measured.rates)
    if faster:
        return "FASTER_" + faster.upper()
    if measured.bandwidth is not None and model.bandwidth and measured.bandwidth > model.bandwidth.high * EXCESS:
        return "FASTER_MEMORY"
    return None


def rate_term(model, name, rate, anchored):
    best = None
    for way, surcharge in model.ways[name]:
        spread = SPREAD[way.basis if anchored else "datasheet"]
        off = math.log(rate / way.centre)
        if off > 0 and name in STRASSEN:
            off = off * spread / math.log(EXCESS) if anchored else max(0.0, off - math.log(EXCESS))
        cost = (off / spread) ** 2 + surcharge
        if best is None or cost < best[0]:
            best = cost, off, spread, surcharge
    return best and best[1:]


class Fit:
    def __init__(self, model, measured):
        self.model, self.off, self.why = model, {}, impossible(model, measured)
        anchored = any(name in measured.rates for name in ("int8", "fp16", "fp32"))
        squares = log_det = weighted = weight = surcharges = unexplained = 0
        for name, rate in measured.rates.items():
            term = rate_term(model, name, rate, anchored)
            if term is None:
                unexplained += 1
                continue
            off, spread, surcharge = term
            self.off[name] = off
            squares += off * off / spread**2
            log_det += math.log(spread**2)
            weighted += off / spread**2
            weight += 1 / spread**2
            surcharges += surcharge
        self.rate_names = list(self.off)
        if measured.bandwidth is not None:
            if model.bandwidth is None:
                unexplained += 1
            else:
                self.off["bandwidth"] = math.log(measured.bandwidth / model.bandwidth.centre)
        if measured.held is not None:
            self.off["memory"] = min(0.0, math.log(measured.held / (model.memory * 0.95)))
        for name in ("bandwidth", "memory"):
            if name in self.off:
                squares += self.off[name] ** 2 / 0.1**2
                log_det += math.log(0.1**2)
        spread_out = 1 + COMMON**2 * weight
        in_vain = 6 * sum(1 for name in measured.declined if model.own[name])
        self.distance = squares - COMMON**2 * weighted**2 / spread_out + surcharges + in_vain + unexplained
        self.count = len(self.off) + unexplained
        log_det += math.log(spread_out)
        self.log = -0.5 * (self.distance + log_det + self.count * math.log(2 * math.pi))

    def fits(self):
        n = self.count
        limit = CHI_SQUARE[n] if n < len(CHI_SQUARE) else n + 3.3 * math.sqrt(2 * n)
        return self.why is None and self.distance <= limit

    def mean_off(self):
        return sum(self.off[name] for name in self.rate_names) / len(self.rate_names) if self.rate_names else None


def ranking(measured, catalogue):
    def speed(fit):
        return sum(math.log(fit.model.ways[name][0][0].centre) for name in measured.rates if fit.model.ways[name])

    def rank(models):
        return sorted((Fit(model, measured) for model in models), key=lambda fit: (-fit.log, speed(fit)))

    possible = [model for model in catalogue.models if impossible(model, measured) is None]
    if len(possible) >= 3:
        return rank(possible)
    return rank(possible) + rank([model for model in catalogue.models if model not in possible])


def shares_of(ranked):
    nothing = -ranked[0].count * math.log(math.log(1000)) if ranked else 0
    possible = [fit.log for fit in ranked if fit.why is None]
    top = max([nothing] + possible)
    total = math.exp(nothing - top) + sum(math.exp(log - top) for log in possible)
    return {fit.model.id: math.exp(fit.log - top) / total if fit.why is None else 0.0 for fit in ranked}


def share_of(ids, shares):
    return min(1.0, sum(share for name, share in shares.items() if name in ids))


class Identity:
    def __init__(self, measured, catalogue):
        self.status, self.model, self.shares, self.closest = "unknown", None, {}, []
        if measured.cpu:
            self.status = "cpu"
        elif measured.rests_on():
            ranked = ranking(measured, catalogue)
            self.shares = shares_of(ranked)
            self.closest = [{"model": fit.model.id, "confidencePercent": half_up(100 * self.shares[fit.model.id])} for fit in ranked[:3]]
            if ranked and ranked[0].fits():
                self.status, self.model = "identified", ranked[0].model

    def stated(self, catalogue, sold=()):
        """As a certificate of version 2 has it; `sold` are the cards of a claim that matches."""
        cards = self.model.alike if self.model else []
        return {"status": self.status, "model": catalogue.buyer_name(cards, sold), "cards": cards,
                "confidencePercent": half_up(100 * share_of(cards, self.shares)), "closest": self.closest}


def candidates_by(rates, catalogue):
    """The ranking by rates alone, cut at a hundredth of the likelihood."""
    measured = Measured({"rates": rates})
    if not measured.rates:
        return []
    fitting = [fit for fit in ranking(measured, catalogue) if fit.fits()]
    return [fit.model for fit in fitting if fit.log >= fitting[0].log - math.log(100)]


def memory_card(candidates, held, identity):
    """The card by whose bandwidth the memory is judged, or None."""
    named = identity.model.alike if identity.model else []
    able = {model.id: model for model in candidates if model.memory >= held and model.bandwidth}
    return next((able[name] for name in named if name in able), None)


def memory_card_before(candidates, held, claimed):
    """By version 1."""
    return fastest([model for model in candidates if model in claimed and model.memory >= held] or candidates)


def fastest(models):
    with_bandwidth = [model for model in models if model.bandwidth]
    return max(with_bandwidth, key=lambda model: model.bandwidth.centre, default=None)


def is_own(card, held, bandwidth):
    """Whether what was held is the memory of this card."""
    fast = card is not None and 0.85 * card.bandwidth.centre <= bandwidth <= 1.25 * card.bandwidth.high
    return fast and 0.5 * card.memory <= held <= card.memory


def suppliers(rates, held, candidates, catalogue):
    """The cards that may have supplied memory from their host, or computed it again."""
    return candidates + [model for model in catalogue.models if model.memory < held and model.unreached(rates) is None]


def supplied(cards, int8, version=2):
    """Bytes a second."""
    link = max([LINKS["pcie"]] + [LINKS[model.link] for model in cards])
    return link + max([int8] + [model.ceiling["int8"] or 0 if version == 1 else model.recomputes for model in cards]) / 32768


def added(values):
    """In double precision."""
    total = 0.0
    for value in values:
        total += value
    return total


def fewer_for(held):
    """(cards, devices, least, most) of fewer cards for some devices, which held so much together."""
    rising = sorted(held)
    for devices in range(len(rising), 0, -1):
        least, most = added(rising[:devices]), added(rising[len(rising) - devices:])
        for cards in range(devices - 1, 0, -1):
            yield cards, devices, least, most


def supplied_by_fewer(held, catalogue):
    """To each of several devices, by a card that has room for less than all of them."""
    lesser = [model for model in catalogue.models if model.memory < added(held)] if len(held) > 1 else []
    return max([supplied([model], 0) for model in lesser], default=0)


def floor_bytes(held, per_second, seconds):
    return max(0, math.floor(held - per_second * seconds))
