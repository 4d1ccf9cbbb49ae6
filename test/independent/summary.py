#!/usr/bin/env python3
"""C10: a summary against its certificate, which is checked too but for its openings.

summary.py SUMMARY CERTIFICATE KEY...     the keys are those trusted; exit 0, or 1 with the reason
"""
import hashlib
import sys

import check_certificate
from envelope import open_envelope, read_file, read_json
from refused import Refused, require
from schema import Schema

MOST = 2**53 - 1
PRECISIONS = ("int8", "fp8", "bf16", "fp16", "fp32")


def models_of(predicate):
    counted = {}
    for device in predicate["judgement"]["devices"]:
        name = device["identity"]["model"]
        place = name if name in counted or len(counted) < 8 else None
        counted[place] = counted.get(place, 0) + 1
    return [{"name": name, "count": count} for name, count in counted.items()]


def follows(predicate):
    """The fields of the summary that follow from the predicate of its certificate."""
    judgement = predicate["judgement"]
    devices, claim = judgement["devices"], judgement["claim"]
    rates = {name: min(MOST, sum(device["rates"][name] for device in devices))
             for name in PRECISIONS if devices and all(device["rates"].get(name) for device in devices)}
    held = [device["memory"] for device in devices if device["memory"]]
    proven = len(held) == len(devices) and all(memory["status"] == "proven" for memory in held)
    memory = {"heldBytes": min(MOST, sum(one["heldBytes"] for one in held)), "status": "proven" if proven else "held"}
    same = {name: predicate[name] for name in ("program", "preset", "startedAt", "issuedAt", "notAfter")}
    return {**same, "outcome": judgement["outcome"], "claim": claim and {"text": claim["text"], "verdict": claim["verdict"]},
            "models": models_of(predicate), "count": {name: judgement["count"][name] for name in ("claimed", "least", "established")},
            "rates": rates, "memory": memory if held else None, "catalogue": judgement["catalogue"]}


def check(summary, full, trusted):
    require(len(summary) <= 4096, "TOO_LARGE", "over 4096 bytes")
    payload, signers = open_envelope(summary, trusted)
    statement = read_json(payload)
    Schema("summary").check(statement)
    given = {name: value for name, value in statement["predicate"].items() if name != "score"}
    require(bytes.fromhex(given["signer"]) in signers, "WRONG_SUBJECT", "signed by another than it names")
    require(statement["subject"][0]["digest"]["sha256"] == hashlib.sha256(full).hexdigest(), "OTHER_FILE", "another certificate")
    check_certificate.check(full, trusted, with_openings=False)
    payload, issuers = open_envelope(full, trusted)
    certificate = read_json(payload)
    require(bytes.fromhex(given["signer"]) in issuers, "SUMMARY_DIFFERS", "the signer has not signed the certificate")
    require(statement["subject"][1] == certificate["subject"][1], "SUMMARY_DIFFERS", "prover")
    wanted = {**follows(certificate["predicate"]), "signer": given["signer"], "runId": certificate["subject"][0]["name"][4:]}
    require(given == wanted, "SUMMARY_DIFFERS", "follows as %r" % wanted)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    try:
        check(read_file(sys.argv[1]), read_file(sys.argv[2]), {bytes.fromhex(key) for key in sys.argv[3:]})
    except Refused as refused:
        print("refused: %s" % refused)
        sys.exit(1)
    print("holds")
