"""docs/spec/identity.md applied to a certificate of version 2: which card, its memory, and the claim, by the catalogue inside.

Not judged: the count of cards.
"""
import re

from claims import Device, judge_claim, reason, undersized
from identity import PROBLEMS, Catalogue, Identity, Measured, candidates_by, floor_bytes, is_own, memory_card, supplied, supplied_by_fewer, suppliers
from refused import require

FILLER = re.compile(r"\b(nvidia|geforce|tesla|quadro|gpu|gpus|graphics)\b")
NOBODY = {"status": "unknown", "model": None, "confidencePercent": 0, "cards": [], "closest": []}


def plain_name(text):
    return re.sub("[^a-z0-9]", "", FILLER.sub(" ", text.lower()))


def parse_claim(text, catalogue, entries):
    """(count, models), or the code of what is wrong."""
    if text.strip() == "":
        return "EMPTY"
    if len(text) > 80:
        return "NOT_PLAIN"
    count, card = 1, text.strip()
    before = re.fullmatch(r"(\d{1,4})\s*[x*]\s*(.+)", card, re.IGNORECASE)
    after = re.fullmatch(r"(.+?)\s+(?:[x*]\s*(\d{1,4})|(\d{1,4})\s*[x*])", card, re.IGNORECASE)
    if before:
        count, card = int(before.group(1)), before.group(2).strip()
    elif after:
        count, card = int(after.group(2) or after.group(3)), after.group(1).strip()
    if not 1 <= count <= 32:
        return "BAD_COUNT"
    wanted = plain_name(card)
    found = [entry["id"] for entry in entries["models"] if wanted in map(plain_name, [entry["id"], entry["name"], *entry["aliases"]])]
    return (count, [catalogue.by_id[name] for name in found]) if wanted and found else "NO_SUCH_CARD"


def measured_of(expected, offered, scaling, together):
    rates, memory, sustained = expected["rates"], expected["memory"], expected["sustained"]
    given = {"rates": rates, "classes": expected["classes"], "declined": [n for n in PROBLEMS if n not in offered and n not in rates]}
    if memory:
        given.update(memoryBytes=memory["heldBytes"], bandwidth=memory["perSecond"], memoriesRead="together" if together else "not asked")
    if sustained:
        given["sustainedShare"] = min(sustained["lastShare"], sustained["peakShare"]) / 1000
    if scaling is not None:
        given["scaling"] = scaling / 1000
    return Measured({**given, "bindRate": expected["bindPerSecond"]})


def in_time(device):
    """Nothing that counts for 0: that had not come by the instant that counts."""
    memory = device["memory"]
    return all(device["rates"].values()) and (memory is None or memory["perSecond"] > 0)


def by_the_rest(measured, d, catalogue):
    """Beside a card that is unlike it nothing is known of the speed of a memory."""
    return Identity(measured[d].but(bandwidth=None), catalogue) if any(is_unlike(measured[d], one) for one in measured) else None


def is_unlike(one, other):
    pairs = [(one.held, other.held, 1.05)] + [(one.rates.get(name), other.rates.get(name), 1.25) for name in PROBLEMS]
    return any(max(a or 0, b or 0) > by * min(a or 0, b or 0) for a, b, by in pairs)


def check_inferred(predicate, facts, expected):
    """`expected` are the devices as C7 derives them without the catalogue."""
    given, entries = predicate["judgement"], predicate["catalogue"]
    catalogue, listed = Catalogue(entries), predicate["claims"]["inventory"]["devices"]
    memory = facts.by_kind.get("memory")
    together = memory is not None and memory.kind == "memories"
    measured = [measured_of(one, listed[d]["precisions"], given["scaling"], together) for d, one in enumerate(expected)]
    identities = [Identity(one, catalogue) for one in measured]
    text = predicate["claims"]["text"]
    sold = None if text is None else parse_claim(text, catalogue, entries)
    claimed = sold[1] if isinstance(sold, tuple) else []
    names = [model.id for model in claimed] if text is not None and given["claim"]["verdict"] == "matches" else []
    for d, identity in enumerate(identities):
        named = by_the_rest(measured, d, catalogue) if together else None
        wanted = (named or identity).stated(catalogue, names) if measured[d].rests_on() and in_time(expected[d]) else NOBODY
        require(given["devices"][d]["identity"] == wanted, "WRONG_JUDGEMENT", "identity of device %d follows as %r" % (d, wanted))
        beside = [(measured[o], identities[o].model) for o in range(len(measured)) if o != d]
        require(not list(undersized(measured[d], identity.model, beside)), "UNDERSIZED_RUN", "device %d" % d)
    _check_memory(given, facts, expected, identities, catalogue, measured if together else [])
    if text is not None:
        _check_claim(given["claim"], sold, measured, catalogue)


def _check_memory(given, facts, expected, identities, catalogue, together):
    part, proven, floors = facts.by_kind.get("memory"), True, []
    for d, one in enumerate(expected):
        if one["memory"] is None:
            require(given["devices"][d]["memory"] is None, "WRONG_JUDGEMENT", "memory of device %d" % d)
            return
        rates, held = one["rates"], one["memory"]["heldBytes"]
        candidates = candidates_by(rates, catalogue)
        card = memory_card(candidates, held, identities[d]) if in_time(one) else None
        proven = proven and is_own(card, held, one["memory"]["perSecond"])
        int8 = facts.first.get("int8")
        if int8 is None:
            floors.append(None)
            continue
        alone = supplied(suppliers(rates, held, candidates, catalogue), max(rates["int8"], facts.shown(int8, d)))
        fewer = supplied_by_fewer([one.held for one in together], catalogue)
        floors.append(floor_bytes(held, max(alone, fewer), facts.seconds_per_pass(part, d)))
    for d, floor in enumerate(floors):
        shown = given["devices"][d]["memory"]
        same = shown["floorBytes"] == floor and shown["status"] == ("proven" if proven else "held")
        require(same, "WRONG_JUDGEMENT", "memory of device %d follows as %r, proven %r" % (d, floor, proven))


def _check_claim(shown, sold, measured, catalogue):
    if isinstance(sold, str):
        verdict, reasons = "unreadable", [reason("UNREADABLE_CLAIM", None, sold, "READABLE")]
    elif not all(one.rests_on() for one in measured):
        verdict, reasons = "unproven", [reason("NOTHING_MEASURED", None, 0, 1)]
    else:
        count, claimed = sold
        verdict, reasons = judge_claim(count, claimed, [Device(d, one, claimed, catalogue) for d, one in enumerate(measured)])
    require(shown["verdict"] == verdict and shown["reasons"] == reasons, "WRONG_JUDGEMENT", "claim follows as %s %r" % (verdict, reasons))
