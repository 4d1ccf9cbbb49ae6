"""Reads {catalogue, cases} on standard input and prints what docs/spec/identity.md says of each case."""
import json
import sys

from claims import Device, judge_claim
from identity import Catalogue, Measured, candidates_by, catalogue_hash, floor_bytes, is_own, memory_card, memory_card_before, supplied, supplied_by_fewer, suppliers


def floors_of(case, shown, candidates, older, catalogue):
    """By today's rules and by those of version 1."""
    if not shown.rates.get("int8") or shown.held is None:
        return None, None
    seconds = case["passes"]["elapsedUs"] / 1e6 / case["passes"]["count"]
    all_held = [Measured(given).held for given in case["devices"]] if shown.read == "together" else []
    alone = supplied(suppliers(shown.rates, shown.held, candidates, catalogue), shown.rates["int8"])
    fewer = supplied_by_fewer([held for held in all_held if held], catalogue)
    before = supplied([older] if older else [], shown.rates["int8"], version=1)
    return [floor_bytes(shown.held, per_second, seconds) for per_second in (max(alone, fewer), before)]


def answer(case, catalogue):
    claimed = [catalogue.by_id[name] for name in case["claimed"]]
    devices = [Device(number, Measured(given), claimed, catalogue) for number, given in enumerate(case["devices"])]
    verdict, reasons = judge_claim(case["count"], claimed, devices)
    first = devices[0].full
    candidates = candidates_by(first.rates, catalogue)
    card = memory_card(candidates, first.held or 0, devices[0].stated)
    older = memory_card_before(candidates, first.held or 0, claimed)
    floors = floors_of(case, first, candidates, older, catalogue)
    return {"identities": [device.stated.stated(catalogue) for device in devices], "verdict": verdict, "reasons": reasons,
            "memoryCard": card.id if card else None,
            "isOwn": is_own(card, first.held or 0, first.bandwidth or 0), "floorBytes": floors[0], "floorBytesVersion1": floors[1]}


def main():
    given = json.load(sys.stdin)
    catalogue = Catalogue(given["catalogue"])
    json.dump({"hash": catalogue_hash(given["catalogue"]), "answers": [answer(case, catalogue) for case in given["cases"]]}, sys.stdout)


main()
