"""docs/spec/identity.md: size classes, counts and claims."""
import math

from identity import LINKS, PROBLEMS, Fit, Identity, fewer_for, half_up, share_of
from whole import memory_size, most_kept

VERDICTS = ("undersized run", "different", "weaker", "shared", "throttled", "power-capped", "unproven", "matches")
VERDICT_OF = {
    "UNDERSIZED_RUN": "undersized run", "OTHER_CARD": "different", "NO_KNOWN_CARD": "different", "NOT_A_GPU": "different",
    "WEAKER_CARD": "weaker", "TOO_SLOW": "weaker", "SLOWER_THAN_KNOWN": "weaker", "FEWER_DEVICES": "weaker",
    "SLOWER_TOGETHER": "shared", "ALL_PARTS_SLOWED": "shared", "SPEED_FADES": "throttled", "COMPUTE_CAPPED": "power-capped",
    "UNREADABLE_CLAIM": "unreadable", "FITS_CLAIM": "matches",
}
ELEMENT_BYTES = {"int8": 1, "fp8": 1, "bf16": 2, "fp16": 2, "fp32": 4}


def reason(code, device, got, expected, **more):
    return {"code": code, "verdict": VERDICT_OF.get(code, "unproven"), "device": device, "got": got, "expected": expected, **more}


def class_at(problem, rate, memory):
    k = 8192 if problem == "fp32" else 32768

    def size_in_bytes(m):
        return 2 * m * k * ELEMENT_BYTES[problem] + 4 * m * m + 64 * (m // 32) ** 2

    m = 32768
    while m > 1024 and size_in_bytes(m) > memory / 2:
        m //= 2
    while m > 1024 and 2 * m * m * k > 0.2 * 0.5 * rate:
        m //= 2
    return m


def required_class(model, problem):
    expected = model.own[problem]
    return class_at(problem, expected.low, model.memory) if expected else None


def reached_class(measured, model, problem):
    required = required_class(model, problem) if model else None
    if required is not None or problem not in measured.rates:
        return required
    return class_at(problem, measured.rates[problem], measured.held or math.inf)


def undersized(measured, model, beside):
    """(problem, ran, least) of every part that ran too small a class."""
    for problem, ran in measured.classes.items():
        own = required_class(model, problem) if model else None
        if own is None:
            continue
        reached = [reached_class(other, card, problem) for other, card in beside]
        least = min([own] + [size for size in reached if size is not None])
        if ran < least:
            yield problem, ran, least


def pass_seconds(devices):
    """Of pairs of (held, bandwidth): until the slowest has read its own."""
    return max(2 * held / bandwidth if bandwidth else math.inf for held, bandwidth in devices)


def reaches(cards, card, held, seconds):
    """Whether so many of the card could have held so much with their hosts, or by computing it again."""
    per_second = LINKS[card.link] + card.recomputes / 32768
    return cards * (card.memory + per_second * seconds) >= held


def idle_fill(card):
    """What an idle one of such cards holds in a whole run."""
    in_use = min(550_000_000, math.floor(0.03 * card.memory))
    device = {"class": "gpu", "memoryBytes": card.reported, "freeBytes": card.reported - in_use}
    size = memory_size(device, 32768)
    return most_kept(device, size, 32768) * (size // 32) ** 2 * 2048


def least_held(card):
    """What must be held of its memory; less where it reports so little that an idle one could not."""
    return min(0.855 * card.memory, 0.99 * idle_fill(card)) if card.is_reported else 0.855 * card.memory


def sold_for(own, claimed, held):
    """Which claimed model another device is held to be, beside one that is judged as `own`."""
    if least_held(own) <= held <= own.memory:
        return own
    large = sorted([model for model in claimed if model.memory >= held], key=lambda model: model.memory)
    return large[0] if large else own


def is_weaker(found, nearest):
    gaps = [math.log(found.own[name].centre / nearest.own[name].centre) for name in PROBLEMS if found.own[name] and nearest.own[name]]
    mean = sum(gaps) / len(gaps) if gaps else 0
    return mean < -0.05 or (mean < 0.05 and found.memory < nearest.memory)


def asked_of(model):
    """The least rate of every problem that a claim of this card must have shown."""
    for name in PROBLEMS:
        if model.own[name]:
            yield name, 0.85 * model.own[name].centre
        elif name == "int8":
            yield name, model.ways[name][-1][0].low if model.ways[name] else 1


class Device:
    def __init__(self, number, measured, claimed, catalogue):
        self.number, self.claimed, self.catalogue = number, claimed, catalogue
        self.shown = self.full = measured.but(declined=[])
        self.stated = Identity(measured, catalogue)
        self.shares = self.stated.shares
        self.identity = Identity(self.shown, catalogue) if measured.declined else self.stated

    def forgive(self, devices):
        """Who waited for another memory is held to the speed it would have shown alone, as far as that is known."""
        own, several = self.full.held or 0, len(self.claimed) > 1
        all_held = [one.full.held or 0 for one in devices]
        if self.full.read != "together" or self.full.bandwidth is None:
            return
        if not several:
            if not own or max(all_held) <= 1.05 * own:
                return
            speed = self.full.bandwidth * max(all_held) / own
        elif any(held > 1.05 * own or own > 1.05 * held for held in all_held):
            speed = None
        else:
            return
        self.shown = self.full.but(bandwidth=speed)
        self.identity = Identity(self.shown, self.catalogue)

    def say(self, code, got, expected, **more):
        return reason(code, self.number, got, expected, **more)

    def reasons(self, beside):
        self.others = [other for other, _ in beside]
        names = " or ".join(model.name for model in self.claimed)
        if self.shown.cpu:
            return [self.say("NOT_A_GPU", "CPU", names)]
        if not self.shown.rests_on():
            return [self.say("NOTHING_MEASURED", 0, names)]
        found = self.identity.model
        others = {"beside": len(beside)} if beside else {}
        small = [self.say("UNDERSIZED_RUN", ran, least, precision=problem, model=found.name, **others)
                 for problem, ran, least in undersized(self.shown, found, beside)]
        if small:
            return small
        fits = sorted((Fit(model, self.shown) for model in self.claimed), key=lambda fit: (fit.why is not None, -fit.log))
        nearest = fits[0]
        if not self.possible(nearest):
            return [self.mismatch(nearest)]
        if self.losses():
            return self.losses()
        if self.slow(nearest):
            return [self.slow_down(nearest)]
        missing = [(fit.model, self.missing(fit.model)) for fit in fits if fit.fits()]
        model, least = min(missing, key=lambda pair: len(pair[1]))
        return least or [self.say("FITS_CLAIM", found.name if found else model.name, model.name, restsOn=self.shown.rests_on())]

    def possible(self, nearest):
        found = self.identity.model
        if not nearest.fits():
            return False
        if found is None or found in self.claimed or found.id in nearest.model.twins:
            return True
        return Fit(found, self.shown).log - nearest.log <= math.log(20)

    def mismatch(self, nearest):
        found, model = self.identity.model, nearest.model
        if found is not None and found.id not in model.twins:
            return self.say("WEAKER_CARD" if is_weaker(found, model) else "OTHER_CARD", self.catalogue.buyer_name(found.alike), model.name)
        if self.slowed(nearest):
            return (self.losses() or [self.slow_down(nearest)])[0]
        lower = bool(nearest.off) and all(off <= 0 for off in nearest.off.values())
        ruled_out = {"ruledOut": nearest.why} if nearest.why else {}
        return self.say("SLOWER_THAN_KNOWN" if lower else "NO_KNOWN_CARD", "unknown", model.name, **ruled_out)

    def slowed(self, nearest):
        mean = nearest.mean_off()
        if mean is None or not math.exp(mean) < 1:
            return False
        rates = {name: rate / math.exp(mean) for name, rate in self.shown.rates.items()}
        return Fit(nearest.model, self.shown.but(rates=rates, bandwidth=None)).fits()

    def losses(self):
        found = (("SLOWER_TOGETHER", self.shown.scaling, 0.8), ("SPEED_FADES", self.shown.sustained, 0.85))
        return [self.say(code, half_up(1000 * share), half_up(1000 * least))
                for code, share, least in found if share is not None and share < least]

    def slow(self, nearest):
        own = nearest.model.own
        below = [rate < own[name].low for name, rate in self.shown.rates.items() if own[name]]
        return 2 * sum(below) > len(below)

    def slow_down(self, nearest):
        mean, bandwidth = nearest.mean_off(), nearest.off.get("bandwidth")
        code = "TOO_SLOW"
        if bandwidth is not None and bandwidth >= -0.22:
            code = "COMPUTE_CAPPED"
        elif bandwidth is not None and mean < -0.2 and abs(bandwidth - mean) <= 0.25:
            code = "ALL_PARTS_SLOWED"
        return self.say(code, half_up(1000 * math.exp(mean)), 1000, model=nearest.model.name)

    def missing(self, model):
        """"Shown at its speed"."""
        found = []
        for name, least in asked_of(model):
            rate = self.shown.rates.get(name, 0)
            if rate < least:
                found.append(self.say("NOT_SHOWN", math.floor(rate), math.ceil(least), precision=name, model=model.name))
        if "bf16" in self.shown.rates and "bf16" not in dict(asked_of(model)):
            found.append(self.say("NOT_KEPT_UP", math.floor(self.shown.rates["bf16"]), 0, precision="bf16", model=model.name))
        found += self.missing_memory(model)
        if self.shown.bind is None:
            found.append(self.say("BIND_NOT_RUN", 0, 1))
        elif "int8" in self.shown.rates and math.floor(1000 * self.shown.bind / self.shown.rates["int8"]) < 250:
            found.append(self.say("BIND_TOO_SLOW", math.floor(1000 * self.shown.bind / self.shown.rates["int8"]), 250))
        return found + self.likelier(model)

    def group(self):
        return {name for model in self.claimed for name in [model.id] + model.twins}

    def missing_memory(self, model):
        held, bandwidth = self.full.held, self.full.bandwidth
        least = math.ceil(least_held(model))
        if held is None or bandwidth is None:
            return [self.say("MEMORY_NOT_RUN", 0, least, model=model.name)]
        if held < least_held(model):
            return [self.say("MEMORY_NOT_SHOWN", math.floor(held), least, model=model.name)]
        slowest = 0.85 * model.bandwidth.centre if model.bandwidth else 0
        if bandwidth < slowest:
            return [self.say("MEMORY_TOO_SLOW", math.floor(bandwidth), math.ceil(slowest), model=model.name)]
        if self.others and self.shown.read not in ("together", "not asked"):
            return [self.say("MEMORY_IN_TURNS", "memory", "memories")]
        lender = self.lender(model, held, bandwidth)
        return [self.say("MEMORY_MAY_BE_LENT", lender, model.name)] if lender else []

    def lender(self, model, held, bandwidth):
        def longest(bytes_held):
            return pass_seconds([(bytes_held, 0.9 * (model.bandwidth.centre if model.bandwidth else 0))])

        seconds = pass_seconds([(held, bandwidth)])
        for card in self.catalogue.models:
            honest = 0.94 * model.memory if card.link == "c2c" else idle_fill(model)
            told = reaches(1, card, held, seconds) and not reaches(1, card, honest, longest(honest))
            if card.id not in self.group() and card.memory < held and told:
                return card.name
        if self.shown.read != "together" or not all(one.held and one.bandwidth for one in self.others):
            return None
        shown = [(held, bandwidth)] + [(one.held, one.bandwidth) for one in self.others]
        idle = [idle_fill(card) for card in [model] + [sold_for(model, self.claimed, one.held) for one in self.others]]
        asked = zip(fewer_for(held for held, _ in shown), fewer_for(idle))
        for (cards, devices, least, most), (_, _, honest_least, _) in asked:
            for card in self.catalogue.models:
                told = reaches(cards, card, least, pass_seconds(shown)) and not reaches(cards, card, honest_least, longest(idle[0]))
                if cards * card.memory < most and told:
                    return "%s (%d for %d devices)" % (card.name, cards, devices)
        return None

    def likelier(self, model):
        group = self.group()
        most = 1.05 * share_of(group, self.shares)
        for name in self.shares:
            rival = self.catalogue.by_id[name]
            if name not in group and share_of({name, *rival.twins} - group, self.shares) > most:
                return [self.say("LIKELIER_CARD", rival.name, model.name)]
        return []


def judge_claim(count, claimed, devices):
    """(verdict, reasons) of a claim about devices."""
    reasons = []
    for device in devices:
        device.forgive(devices)
    for device in devices:
        beside = [(other.full, other.identity.model) for other in devices if other is not device]
        reasons += device.reasons(beside)
    if len(devices) < count:
        reasons.append(reason("FEWER_DEVICES", None, len(devices), count, model=claimed[0].name))
    return next(verdict for verdict in VERDICTS if any(one["verdict"] == verdict for one in reasons)), reasons
