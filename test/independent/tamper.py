#!/usr/bin/env python3
"""Changes a certificate of preset tiny in many places, as somebody who holds all keys would, and checks every change.

tamper.py CERTIFICATE VALIDATOR_SECRET_FILE PROVER_SECRET_FILE FOLDER

Writes FOLDER/NAME for every changed certificate and prints a JSON list of {name, file, python}, python being the
refusal, or "holds". The key files hold 64 hex digits.
"""
import base64
import copy
import functools
import json
import os
import sys

import check_certificate
import ed25519
import evidence
import tsp1
from envelope import open_envelope, read_json, write_json
from make_certificate import CATALOGUE, seal
from refused import Refused
from version2 import catalogue_hash


def remembered(function):
    """Most changes leave most tiles and signatures as they were."""
    return functools.lru_cache(maxsize=None)(lambda *args: _hashable(function(*args)))


def _hashable(value):
    return tuple(value) if isinstance(value, list) else value


for module, names in ((tsp1, ("tile_values", "masks", "fingerprint", "bind_fingerprint", "kept_words", "memory_fingerprint")),
                      (ed25519, ("verify", "public_key"))):
    for function_name in names:
        setattr(module, function_name, remembered(getattr(module, function_name)))


class Forger:
    def __init__(self, data, validator, prover):
        self.validator, self.prover = validator, prover
        self.trusted = {ed25519.public_key(validator)}
        self.statement = read_json(open_envelope(data, self.trusted)[0])
        self._shrink(self.statement["predicate"])
        self.data = seal(write_json(self.statement).encode(), validator)
        check_certificate.check(self.data, self.trusted)
        self.challenge = evidence.read_challenge(base64.b64decode(self.statement["predicate"]["challenge"]))
        self.cases = []

    @staticmethod
    def _shrink(predicate):
        """Of the catalogue one card is enough here, and most of the time is spent on reading it."""
        predicate["catalogue"] = CATALOGUE
        predicate["judgement"]["catalogue"] = catalogue_hash(CATALOGUE)

    def add(self, name, data):
        try:
            check_certificate.check(data, self.trusted)
            found = "holds"
        except Refused as refused:
            found = str(refused)
        self.cases.append((name, data, found))

    def resigned(self, name, change):
        """One change to the statement, signed by the validator."""
        statement = copy.deepcopy(self.statement)
        change(statement["predicate"])
        self.add(name, seal(write_json(statement).encode(), self.validator))

    def coherent(self, name, change):
        """A change to the evidence; prover and validator sign whatever follows from it."""
        statement = copy.deepcopy(self.statement)
        predicate = statement["predicate"]
        change(predicate)
        data = base64.b64decode(predicate["challenge"])
        challenge, x = evidence.read_challenge(data), tsp1.challenge_hash(data)
        statement["subject"][0]["digest"]["sha256"] = x.hex()
        parts = evidence.check_parts(challenge, x, predicate)
        message = b"".join([b"tsp1/result", x] + [part.q for part in parts])
        predicate["ready"] = text64(ed25519.sign(self.prover, b"tsp1/ready" + x))
        predicate["result"] = {"prover": text64(ed25519.sign(self.prover, message)),
                               "validator": text64(ed25519.sign(self.validator, message))}
        self.add(name, seal(write_json(statement).encode(), self.validator))

    def part_of(self, kind):
        return next(i for i, part in enumerate(self.challenge["parts"]) if part["kind"] == kind)


def text64(data):
    return base64.b64encode(data).decode()


def flipped(text, bit):
    """A bit of base64 or of hex bytes, counted from the front; negative from the back."""
    is_hex = len(text) == 64 and set(text) <= set("0123456789abcdef")
    data = bytearray(bytes.fromhex(text) if is_hex else base64.b64decode(text))
    bit %= 8 * len(data)
    data[bit // 8] ^= 1 << bit % 8
    return data.hex() if is_hex else text64(data)


def flip(bit, *place):
    def change(predicate):
        holder = predicate
        for step in place[:-1]:
            holder = holder[step]
        holder[place[-1]] = flipped(holder[place[-1]], bit)

    return change


def put(value, *place):
    """Sets a field; a function is given the old value."""
    def change(predicate):
        holder = predicate
        for step in place[:-1]:
            holder = holder[step]
        holder[place[-1]] = value(holder[place[-1]]) if callable(value) else value

    return change


def raw_cases(forger):
    data = forger.data
    for i in range(24):
        bit = (2 * i + 1) * len(data) * 8 // 48
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        forger.add("bit %d of the file" % bit, bytes(changed))
    for name, changed in (("empty", b""), ("cut", data[:-1]), ("longer", data + b"\n"), ("half", data[:len(data) // 2]),
                          ("space", data.replace(b'","', b'", "', 1)), ("other key", seal(open_envelope(data, forger.trusted)[0], bytes(32)))):
        forger.add(name, changed)


def field_cases(forger):
    memory, bind = forger.part_of("memory"), forger.part_of("bind")
    arrivals = ("parts", 0, "devices", 0, "arrivalsUs")
    for name, change in (
        ("preset devnet", put("devnet", "preset")), ("preset mainnet", put("mainnet", "preset")), ("preset custom", put("custom", "preset")),
        ("another program's signature", flip(3, "ready")), ("prover's result", flip(3, "result", "prover")),
        ("validator's result", flip(-3, "result", "validator")), ("no result", put(None, "result")),
        ("results exchanged", put(lambda r: {"prover": r["validator"], "validator": r["prover"]}, "result")),
        ("nonce", flip(9, "parts", 0, "nonce")), ("s", flip(9, "parts", 1, "s")), ("z", flip(9, "parts", memory, "z")),
        ("z in rounds", put("00" * 32, "parts", 0, "z")), ("no z", put(None, "parts", memory, "z")),
        ("z sent before the fill was in", put(0, "parts", memory, "zSentUs")),
        ("z sent after the passes", put(10**9, "parts", memory, "zSentUs")),
        ("root", flip(300, "parts", bind, "devices", 0, "roots")), ("arrival earlier", put(lambda a: [a[-1] + 1] + a[1:], *arrivals)),
        ("arrival late", put(lambda a: a[:-1] + [2**50], *arrivals)), ("arrival missing", put(lambda a: a[:-1], *arrivals)),
        ("arrival sooner", put(lambda a: [x // 2 for x in a], *arrivals)), ("arrival negative", put(lambda a: [-1] + a[1:], *arrivals)),
        ("arrival fraction", put(lambda a: [0.5] + a[1:], *arrivals)), ("device", put(1, "parts", 0, "devices", 0, "device")),
        ("no device", put([], "parts", 0, "devices")), ("device twice", put(lambda d: d + d, "parts", 0, "devices")),
        ("part missing", put(lambda p: p[:-1], "parts")), ("part twice", put(lambda p: p + p[-1:], "parts")),
        ("parts exchanged", put(lambda p: [p[1], p[0]] + p[2:], "parts")), ("no part", put([], "parts")),
        ("unknown field", put(1, "more")), ("unknown field of a part", put(1, "parts", 0, "more")),
        ("program with an escape", put("\x1b[31m", "program")), ("date", put("2026-13-01T00:00:00Z", "issuedAt")),
        ("no inventory", put([], "claims", "inventory", "devices")), ("long name", put("x" * 121, "claims", "inventory", "devices", 0, "name")),
        ("details with __proto__", put({"__proto__": 1}, "claims", "inventory", "devices", 0, "details")),
        ("figure", put(lambda n: n + 1, "figures", 0, "perSecond")), ("held bytes", put(lambda n: n + 1, "figures", memory, "heldBytes")),
        ("elapsed", put(lambda n: n - 1, "figures", 2, "elapsedUs")), ("figure missing", put(lambda f: f[:-1], "figures")),
        ("figures exchanged", put(lambda f: [f[1], f[0]] + f[2:], "figures")),
    ):
        forger.resigned(name, change)


def judgement_cases(forger):
    device = ("judgement", "devices", 0)
    foreign = put("00" * 32, "judgement", "catalogue")
    for name, change in (
        ("rejected", put("rejected", "judgement", "outcome")), ("accepted with a reason", put({"code": "TOO_SHORT"}, "judgement", "reason")),
        ("rate", put(lambda n: n + 1, *device, "rates", "int8")), ("rate left out", put(lambda r: {"int8": r["int8"]}, *device, "rates")),
        ("class", put(32768, *device, "classes", "bf16")), ("bind rate", put(lambda n: n + 1, *device, "bindPerSecond")),
        ("bind share", put(lambda n: n + 1, *device, "bindShare")), ("alone", put(1, *device, "alonePerSecond")),
        ("link", put(1, *device, "linkPerSecond")), ("memory", put(lambda n: n + 1, *device, "memory", "perSecond")),
        ("memory held", put(lambda n: 2 * n, *device, "memory", "heldBytes")), ("floor", put(10**12, *device, "memory", "floorBytes")),
        ("no memory", put(None, *device, "memory")), ("scaling", put(1000, "judgement", "scaling")),
        ("judged device", put(1, *device, "device")), ("judged twice", put(lambda d: d + d, "judgement", "devices")),
        ("nobody judged", put([], "judgement", "devices")),
        ("card", put({"status": "identified", "model": "h100", "confidencePercent": 100, "twins": [], "closest": []}, *device, "identity")),
        ("no identity", put(lambda d: [{k: v for k, v in d[0].items() if k != "identity"}], "judgement", "devices")),
        ("memory proven", put("proven", *device, "memory", "status")), ("claim nobody made", put({"text": "8x H100", "verdict": "true", "reasons": []}, "judgement", "claim")),
        ("count", put(8, "judgement", "count", "claimed")), ("escape", put("\x1b[31m", "judgement", "count", "sentence")),
        ("unknown field", put(1, "judgement", "more")), ("unknown field of a device", put(1, *device, "more")),
    ):
        forger.resigned("judgement: " + name, change)
        if name not in ("rejected", "accepted with a reason", "escape"):
            forger.resigned("foreign catalogue: " + name, lambda p, change=change: (change(p), foreign(p)))


def opening_cases(forger):
    for kind in ("rounds", "memory", "bind"):
        index = forger.part_of(kind)
        place = ("parts", index, "devices", 0, "openings")
        for bit in (0, 777, -1):
            forger.resigned("%s opening, bit %d" % (kind, bit), flip(bit, *place))
        length = len(base64.b64decode(forger.statement["predicate"]["parts"][index]["devices"][0]["openings"])) // 8
        forger.resigned(kind + " openings rotated", put(lambda t, n=length: _rotated(t, n), *place))
        forger.resigned(kind + " opening missing", put(lambda t, n=length: text64(base64.b64decode(t)[:-n]), *place))
        forger.resigned(kind + " node missing", put(lambda t: text64(base64.b64decode(t)[:-32]), *place))
        forger.resigned(kind + " node more", put(lambda t: text64(base64.b64decode(t) + bytes(32)), *place))


def _rotated(text, size):
    data = base64.b64decode(text)
    return text64(data[size:] + data[:size])


def coherent_cases(forger):
    """Evidence changed and signed again by both sides: only the openings can tell."""
    memory, bind, last = forger.part_of("memory"), forger.part_of("bind"), -1
    forger.coherent("another s, signed", flip(0, "parts", 0, "s"))
    forger.coherent("another z, signed", flip(0, "parts", memory, "z"))
    for index, name in ((0, "int8"), (4, "fp32"), (memory, "memory"), (bind, "bind")):
        forger.coherent("first root of %s, signed" % name, flip(0, "parts", index, "devices", 0, "roots"))
        forger.coherent("last root of %s, signed" % name, flip(last, "parts", index, "devices", 0, "roots"))
    forger.coherent("fill root copied, signed", put(lambda t: text64(base64.b64decode(t)[:32] * 2 + base64.b64decode(t)[64:]),
                                                   "parts", memory, "devices", 0, "roots"))
    run_id, limit = 8 * 1, 8 * (89 + 2 + 24)
    forger.coherent("another time limit, signed", flip(limit, "challenge"))
    forger.resigned("another run id", flip(run_id, "challenge"))
    forger.resigned("another version", flip(0, "challenge"))
    forger.resigned("challenge longer", put(lambda t: text64(base64.b64decode(t) + b"\0"), "challenge"))


def version2_cases(forger):
    """What version 2 added: times, catalogue, anchor, extensions, several signatures."""
    first, blocks = ("catalogue", "models", 0), len(forger.statement["predicate"]["parts"])
    anchor = {"chain": "none", "parts": [{"height": 1, "block": "00" * 32, "random": "11" * 32}] * blocks}
    for name, change in (
        ("started after the issue", put("2999-01-01T00:00:00.000Z", "startedAt")), ("started long before", put("2000-01-01T00:00:00.000Z", "startedAt")),
        ("no time for the parts", put(forger.statement["predicate"]["issuedAt"], "startedAt")),
        ("over before it was issued", put("2000-01-01T00:00:00.000Z", "notAfter")), ("valid for ever", put("9999-01-01T00:00:00.000Z", "notAfter")),
        ("a day that no month has", put("2026-02-30T00:00:00.000Z", "startedAt")), ("time spelled otherwise", put("2026-01-01T00:00:00Z", "startedAt")),
        ("an extension that must be known", put({"must-know": 1}, "extensions")), ("an extension of another name", put({"know": 1}, "extensions")),
        ("seventeen extensions", put({"x-%d" % i: i for i in range(17)}, "extensions")), ("an extension with an escape", put({"x-a": "\x1b"}, "extensions")),
        ("another catalogue", put(lambda h: h[::-1], "judgement", "catalogue")), ("no catalogue", put(None, "catalogue")),
        ("a card renamed", put("NVIDIA Other", *first, "name")), ("a figure raised", put(lambda n: n + 1, *first, "memoryBytes")),
        ("a card with a field more", put(1, *first, "more")), ("a card left out", put(lambda m: m[1:], "catalogue", "models")),
        ("seeds of no block", put(anchor, "anchor")), ("an attestation of no form", put({"format": "x"}, "attestation")),
    ):
        forger.resigned("version 2: " + name, change)
    payload, other = open_envelope(forger.data, forger.trusted)[0], bytes([9]) * 32
    both = seal(payload, forger.validator, other)
    head, tail = both[:both.index(b"[") + 1], b"]}\n"
    pair = both[len(head):-len(tail)].split(b"},{")
    one, two = pair[0] + b"}", b"{" + pair[1]
    for name, listed in (("out of order", two + b"," + one), ("twice the same", one + b"," + one), ("none", b""),
                         ("nine", b",".join(sorted([one] + [two] * 8))),
                         ("exchanged", one.replace(one[-91:], two[-91:]) + b"," + two)):
        forger.add("signatures: " + name, head + listed + tail)
    forger.add("signatures: not the validator's", seal(payload, other))


def spelling_cases(forger):
    """The same statement spelled in another way, signed by the validator (C2)."""
    text = write_json(forger.statement).encode()
    for name, changed in (
        ("byte order mark", b"\xef\xbb\xbf" + text), ("line feed", text + b"\n"), ("space", text.replace(b":", b": ", 1)),
        ("key twice", text.replace(b'"preset":"tiny"', b'"preset":"mainnet","preset":"tiny"', 1)),
        ("whole number with a point", text.replace(b'"device":0', b'"device":0.0', 1)),
        ("escape", text.replace(b'"prover"', b'"\\u0070rover"', 1)), ("no UTF-8", text.replace(b'"text":null', b'"text":"\xff"')),
    ):
        forger.add("spelling: " + name, seal(changed, forger.validator))


def main(certificate, validator, prover, folder):
    def key(path):
        with open(path, encoding="ascii") as file:
            return bytes.fromhex(file.read().strip())

    with open(certificate, "rb") as file:
        forger = Forger(file.read(), key(validator), key(prover))
    for group in (raw_cases, field_cases, judgement_cases, opening_cases, coherent_cases, version2_cases, spelling_cases):
        group(forger)
    listed = []
    for number, (name, data, found) in enumerate(forger.cases):
        listed.append({"name": name, "file": "%03d.json" % number, "python": found})
        with open(os.path.join(folder, listed[-1]["file"]), "wb") as file:
            file.write(data)
    print(json.dumps(listed, indent=1))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
