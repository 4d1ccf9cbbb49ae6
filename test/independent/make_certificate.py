#!/usr/bin/env python3
"""A whole run of preset tiny by this folder's own prover and validator, as a certificate. For tests: the keys are public.

make_certificate.py FILE [DEVICES]      DEVICES is 1 or 2; with 2 there are parts of one device, a link part and two signers
"""
import base64
import hashlib
import json
import sys

import small_parts
import ed25519
import evidence
import judgement
import shape
import tsp1
import version2

SIZE = small_parts.SIZE


def secret(label):
    return hashlib.sha256(b"touchstone certificate " + label.encode()).digest()


SHARE = {"low": 0.5, "high": 1}
CATALOGUE = {
    "version": 1,
    "rules": {"rate": dict.fromkeys(("datasheetConsumer", "datasheetProfessional", "measured"), SHARE),
              "fp32": dict.fromkeys(("datasheet", "measured"), SHARE), "bandwidth": dict.fromkeys(("datasheet", "measured"), SHARE)},
    "sources": {"own": {"title": "a card that nobody has", "year": 2026}},
    "models": [{"id": "one", "name": "One", "vendor": "Nobody", "chip": "one", "line": "professional", "aliases": [],
                "hostLink": "pcie", "nvlink": False, "memoryBytes": 2**34, "memorySource": "own", "bandwidth": [],
                "rates": {"int8": [{"value": 10**14, "basis": "measured", "source": "own"}]}, "twins": []}],
}


def text64(data):
    return base64.b64encode(data).decode()


def tiny_challenge(devices):
    everyone = (1 << devices) - 1
    shapes = [("rounds", name, everyone) for name in (tsp1.PRECISIONS if devices == 1 else ("int8", "bf16"))]
    shapes += [("rounds", "int8", 1 << device) for device in range(devices) if devices > 1]
    shapes += [("rounds", "bf16", everyone), ("memory" if devices == 1 else "memories", "int8", everyone), ("bind", "int8", everyone)]
    shapes += [("link", "int8", everyone)] if devices > 1 else []
    parts = []
    for index, (kind, precision, mask) in enumerate(shapes):
        parts.append({
            "kind": kind, "precision": precision, "m": SIZE, "n": SIZE, "k": SIZE,
            "rounds": 3 if kind in (*tsp1.FILLS, "link") else 4, "openings": 8, "mask": mask, "limitMs": 60_000,
            "openLimitMs": 60_000, "kept": [2 if kind in tsp1.FILLS else 0] * devices,
            "nonceHash": tsp1.nonce_hash(secret("nonce %d" % index)),
        })
    return {"version": 2, "runId": secret("run")[:16], "validatorKey": ed25519.public_key(secret("validator")),
            "proverKey": ed25519.public_key(secret("prover")), "devices": devices, "parts": parts}


class Prover:
    """Computes every root of the run and keeps the trees for the openings."""

    def __init__(self, challenge):
        self.challenge, self.x = challenge, tsp1.challenge_hash(tsp1.challenge_bytes(challenge))
        self.fills = {}

    def rounds(self, index, device):
        part, seed = self.challenge["parts"][index], tsp1.first_seed(self.x, secret("s %d" % index), index, device)
        count, trees, contents = part["kept"][device] or part["rounds"], [], []
        for _ in range(count):
            values = [tsp1.tile_values(seed, part["precision"], SIZE, SIZE, tile) for tile in range(4)]
            prints = small_parts.bind_round(seed, values) if part["kind"] == "bind" else small_parts.plain_round(seed, values)
            trees.append(tsp1.tree_levels([tsp1.leaf(tile, *pair) for tile, pair in enumerate(prints)]))
            contents += values
            seed = tsp1.next_seed(seed, trees[-1][-1][0])
        return trees, contents

    def one_pass(self, z, j, own, other):
        """The tree over the whole fill of a pass, and its Q."""
        leaves = []
        for u, words in enumerate(own):
            pair = tsp1.memory_fingerprint(z, words, other[tsp1.memory_partner(z, u, len(other))])
            leaves.append(tsp1.leaf(u, *pair))
        levels = tsp1.tree_levels(leaves)  # G is a power of two here, so one tree is the padded tree
        return levels, tsp1.sha256(b"tsp1/mem", tsp1.u32(j), levels[-1][0])

    def passes(self, z, pairs, count):
        """Those of all passes over pairs of fills that follow from each other, pair by pair."""
        found = [[] for _ in pairs]
        for j in range(count):
            for place, pair in enumerate(pairs):
                found[place].append(self.one_pass(z, j, *pair))
            z = tsp1.next_pass(z, *[made[j][1] for made in found])
        return found

    def run_part(self, index):
        """Per device: (roots, the path of an opening)."""
        part = self.challenge["parts"][index]
        devices, done = evidence.devices_of(part), {}
        if part["kind"] in tsp1.FILLS:
            for device in devices:
                trees, contents = self.rounds(index, device)
                self.fills[device] = (trees, [tsp1.kept_words(values) for values in contents])
        for device in devices:
            if part["kind"] in (*tsp1.FILLS, "link"):
                done[device] = self._pass_part(index, device)
            else:
                trees, _ = self.rounds(index, device)
                done[device] = ([levels[-1][0] for levels in trees], lambda at, tile, t=trees: tsp1.tree_path(t[at], tile))
        return done

    def _pass_part(self, index, device):
        part, trees = self.challenge["parts"][index], self.fills[device][0]
        memory, fills = part["kind"] in tsp1.FILLS, [self.fills[one][1] for one in sorted(self.fills)]
        pairs = [(own, own if memory else fills[place - 1]) for place, own in enumerate(fills)]
        together = part["kind"] == "memories"
        start = secret("z %d" % index if memory else "s %d" % index)
        passes = self.passes(start, pairs if together else pairs[device:device + 1], part["rounds"])[device if together else 0]
        roots = [levels[-1][0] for levels in trees] if memory else []

        def path(at, u):
            return tsp1.tree_path(passes[at][0], u) + tsp1.tree_path(trees[u // 4], u % 4)

        return roots + [q for _, q in passes], path


def certificate_part(prover, index):
    part, done = prover.challenge["parts"][index], prover.run_part(index)
    memory, s, nonce = part["kind"] in tsp1.FILLS, secret("s %d" % index), secret("nonce %d" % index)
    z0 = secret("z %d" % index) if memory else None
    q = tsp1.query(prover.x, s, nonce, [root for device in sorted(done) for root in done[device][0]], z0 or b"")
    devices = []
    for device in sorted(done):
        roots, path = done[device]
        places = 4 * (2 if part["kind"] in (*tsp1.FILLS, "link") else 1)
        draws = [tsp1.draw(q, device, i, part["rounds"], places) for i in range(part["openings"])]
        devices.append({"device": device, "roots": text64(b"".join(roots)),
                        "arrivalsUs": [1000 * (i + 1) + 7 * device for i in range(len(roots))],
                        "openings": text64(b"".join(step for draw in draws for step in path(*draw)))})
    given = {"s": s.hex(), "z": z0.hex() if memory else None, "zSentUs": 2500 if memory else None,
             "nonce": nonce.hex(), "devices": devices}
    return given, q


def claims(devices):
    device = {"class": "cpu", "backEnd": "cpu", "name": "second implementation", "memoryBytes": 2**30, "freeBytes": 2**29,
              "precisions": list(tsp1.PRECISIONS), "details": {}}
    return {"inventory": {"program": "test", "devices": [device] * devices, "host": {}}, "text": None, "telemetry": []}


def make(devices):
    challenge = tiny_challenge(devices)
    prover = Prover(challenge)
    made = [certificate_part(prover, index) for index in range(len(challenge["parts"]))]
    result = b"".join([b"tsp1/result", prover.x] + [q for _, q in made])
    predicate = {
        "program": "touchstone second implementation", "issuedAt": "2026-01-01T00:00:00.000Z", "preset": "tiny",
        "challenge": text64(tsp1.challenge_bytes(challenge)), "ready": text64(ed25519.sign(secret("prover"), b"tsp1/ready" + prover.x)),
        "parts": [given for given, _ in made],
        "result": {name: text64(ed25519.sign(secret(name), result)) for name in ("prover", "validator")},
        "claims": claims(devices),
    }
    return challenge, prover.x, judged(challenge, prover.x, predicate)


def judged(challenge, x, predicate):
    """The predicate with figures and judgement as C6 and C7 derive them."""
    parts = evidence.check_parts(challenge, x, predicate)
    figures = [judgement.figure(part, device) for part in parts for device in sorted(part.entries)]
    facts = judgement.Facts(challenge, parts, figures)
    nobody = {"status": "cpu", **shape.no_card(2)}
    devices = [{**judgement.device_facts(facts, device), "identity": nobody} for device in range(challenge["devices"])]
    for device in devices:
        device["memory"]["status"] = "held"
    found = {"outcome": "accepted", "reason": None, "catalogue": version2.catalogue_hash(CATALOGUE), "devices": devices,
             "count": {"claimed": len(devices), "least": 1, "established": False, "sentence": judgement.uncounted(len(devices))},
             "scaling": judgement.scaling(facts, challenge["devices"]), "claim": None}
    return {**predicate, "figures": figures, "judgement": found, "roundTripUs": 120, "startedAt": "2025-12-31T23:59:00.000Z",
            "notAfter": "2026-12-31T00:00:00.000Z", "catalogue": CATALOGUE, "extensions": {"x-note": ["may be passed over"]}}


def statement(challenge, x, predicate):
    return {"_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": "run " + challenge["runId"].hex(), "digest": {"sha256": x.hex()}},
                        {"name": "prover", "digest": {"ed25519": challenge["proverKey"].hex()}}],
            "predicateType": "urn:touchstone:proof-of-gpu:2", "predicate": predicate}


def seal(payload, *keys):
    """The envelope of C1 around the statement's bytes."""
    signed = b"DSSEv1 28 application/vnd.in-toto+json %d " % len(payload) + payload
    pairs = sorted((ed25519.public_key(key).hex(), text64(ed25519.sign(key, signed))) for key in keys)
    listed = ",".join('{"keyid":"%s","sig":"%s"}' % pair for pair in pairs)
    return ('{"payloadType":"application/vnd.in-toto+json","payload":"%s","signatures":[%s]}\n' % (text64(payload), listed)).encode()


def main(path, devices):
    payload = json.dumps(statement(*make(devices)), separators=(",", ":")).encode()
    with open(path, "wb") as file:
        file.write(seal(payload, secret("validator"), *[secret("watcher")] * (devices - 1)))
    print(ed25519.public_key(secret("validator")).hex())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["1"], ["2"]):
        sys.exit(__doc__)
    main(sys.argv[1], int((sys.argv[2:] or ["1"])[0]))
