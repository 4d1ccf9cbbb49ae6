"""C3, C4 and C8.2 to C8.7: the challenge, the roots and every opening."""
import struct

import ed25519
import tsp1
from envelope import decode_base64
from refused import Refused, require
from whole import check_whole

PRESETS = {"tiny": (64, 8), "devnet": (8192, 32), "mainnet": (None, 128), "custom": (None, 1)}
PREDICATE = "urn:touchstone:proof-of-gpu:%d"
PART_FIELDS = ("m", "n", "k", "rounds", "openings", "mask", "limitMs", "openLimitMs")


def read_challenge(data):
    """The fields of section 4.1 from their canonical bytes."""
    try:
        version, run_id, validator, prover, devices, count = struct.unpack_from("<B16s32s32sII", data, 0)
        require(version in (1, 2), "VERSION", "challenge of version %d" % version)
        require(1 <= devices <= 32 and 1 <= count <= 64, "BAD_CHALLENGE", "%d devices, %d parts" % (devices, count))
        parts, offset = [], 89
        for _ in range(count):
            part, offset = _read_part(data, offset, devices)
            parts.append(part)
    except struct.error:
        raise Refused("BAD_CHALLENGE", "the challenge is cut short") from None
    require(offset == len(data), "BAD_CHALLENGE", "bytes behind the challenge")
    return {"version": version, "runId": run_id, "validatorKey": validator, "proverKey": prover, "devices": devices, "parts": parts}


def _read_part(data, offset, devices):
    kind, precision, *numbers = struct.unpack_from("<BB8I", data, offset)
    require(kind < 5 and precision < 5, "BAD_CHALLENGE", "kind %d, precision %d" % (kind, precision))
    part = {"kind": tsp1.KINDS[kind], "precision": tsp1.PRECISIONS[precision], **dict(zip(PART_FIELDS, numbers))}
    part["kept"] = list(struct.unpack_from("<%dI" % devices, data, offset + 34))
    (part["nonceHash"],) = struct.unpack_from("<32s", data, offset + 34 + 4 * devices)
    return part, offset + 66 + 4 * devices


def _power_of_two(value):
    return value > 0 and value & value - 1 == 0


def _check_bounds(challenge):
    fills = None
    for index, part in enumerate(challenge["parts"]):
        def need(condition, text):
            require(condition, "BAD_CHALLENGE", "part %d: %s" % (index, text))

        everyone = (1 << challenge["devices"]) - 1
        need(part["m"] == part["n"] and _power_of_two(part["m"]) and 32 <= part["m"] <= 32768, "m and n")
        need(_power_of_two(part["k"]) and 32 <= part["k"] <= 32768, "k")
        need(0 < part["mask"] <= everyone, "mask")
        need(1 <= part["rounds"] <= 2**24 and 1 <= part["openings"] <= 4096, "rounds or openings")
        need(all(1 <= part[name] <= 2**31 for name in ("limitMs", "openLimitMs")), "time limits")
        need(part["kind"] == "rounds" or part["precision"] == "int8", "precision")
        for device, kept in enumerate(part["kept"]):
            needed = part["kind"] in tsp1.FILLS and part["mask"] >> device & 1 == 1
            need((kept > 0) == needed and kept <= 4096 and kept * tsp1.tile_count(part["m"], part["n"]) < 2**32, "kept rounds")
        if part["kind"] in tsp1.FILLS:
            fills = part
        need(part["kind"] != "memories" or challenge["devices"] > 1 and part["mask"] == everyone, "memories of all of several devices")
        if part["kind"] == "link":
            need(challenge["devices"] > 1 and part["mask"] == everyone, "a link needs all of two or more devices")
            need(fills and fills["mask"] == everyone and all(fills[x] == part[x] for x in "mnk"), "no fill to link")


def class_of(device):
    """C5: `cpu` or `gpu`; version 1 said `kind`, which was class and back end in one."""
    return device["class"] if "class" in device else "cpu" if device["kind"] == "cpu" else "gpu"


def _check_preset(challenge, preset, device_class):
    size, openings = PRESETS[preset]
    for part in challenge["parts"]:
        require(part["openings"] >= openings, "BAD_PRESET", "fewer openings than the preset's")
        if size is not None:
            require(part["m"] <= size and part["k"] <= (min(size, 2048) if device_class == "cpu" else size), "BAD_PRESET", "larger than the preset")
        else:
            wanted = 8192 if part["precision"] == "fp32" else 2048 if part["kind"] == "bind" else 32768
            require(part["k"] == (2048 if device_class == "cpu" else wanted), "BAD_PRESET", "another k than the preset's")


def check_challenge(statement, predicate, signers):
    """(challenge, X), bound to the subject, the signers and the preset."""
    data = decode_base64(predicate["challenge"], "challenge")
    challenge, x = read_challenge(data), tsp1.challenge_hash(data)
    require(statement["predicateType"] == PREDICATE % challenge["version"], "VERSION", "a challenge of another version")
    require(challenge["version"] > 1 or all(part["kind"] != "memories" for part in challenge["parts"]), "BAD_CHALLENGE", "kind")
    _check_bounds(challenge)
    run, prover = statement["subject"]
    require(run["name"] == "run " + challenge["runId"].hex(), "WRONG_SUBJECT", "another run id")
    require(run["digest"]["sha256"] == x.hex(), "WRONG_SUBJECT", "another challenge")
    require(prover["digest"]["ed25519"] == challenge["proverKey"].hex(), "WRONG_SUBJECT", "another prover")
    require(challenge["validatorKey"] in signers, "WRONG_SIGNER", "the challenge names another validator")
    require(challenge["version"] > 1 or len(signers) == 1, "MALFORMED", "version 1 has one signature")
    listed = predicate["claims"]["inventory"]["devices"]
    classes = {class_of(device) for device in listed[:challenge["devices"]]}
    require(len(listed) >= challenge["devices"] and len(classes) == 1, "BAD_CLAIMS", "devices of the inventory")
    if predicate["judgement"]["outcome"] != "rejected":
        _check_preset(challenge, predicate["preset"], classes.pop())
        if challenge["version"] > 1 and predicate["preset"] == "mainnet":
            check_whole(challenge, listed[:challenge["devices"]])
    return challenge, x


def devices_of(part):
    return [device for device in range(32) if part["mask"] >> device & 1]


class Part:
    """One part of the certificate beside its part of the challenge."""

    def __init__(self, index, asked, given, fills):
        self.index, self.asked, self.given = index, asked, given
        self.kind, self.tiles = asked["kind"], tsp1.tile_count(asked["m"], asked["n"])
        self.s, self.nonce = bytes.fromhex(given["s"]), bytes.fromhex(given["nonce"])
        self.z0 = bytes.fromhex(given["z"]) if given["z"] is not None else None
        self.entries = {entry["device"]: entry for entry in given["devices"]}
        self.fills = self if self.kind in tsp1.FILLS else fills
        self.roots, self.known_seeds, self.cache = {}, {}, {}

    def fail(self, condition, code, text):
        require(condition, code, "part %d: %s" % (self.index, text))

    def check(self, x):
        memory = self.kind in tsp1.FILLS
        self.fail(tsp1.nonce_hash(self.nonce) == self.asked["nonceHash"], "WRONG_NONCE", "not the nonce of the challenge")
        self.fail((self.z0 is not None) == memory and (self.given["zSentUs"] is not None) == memory, "MALFORMED", "Z_0")
        self.fail([entry["device"] for entry in self.given["devices"]] == devices_of(self.asked), "WRONG_DEVICES", "devices")
        for device, entry in self.entries.items():
            data = decode_base64(entry["roots"], "roots")
            count = self.asked["rounds"] + self.asked["kept"][device]
            self.fail(len(data) == 32 * count and len(entry["arrivalsUs"]) == count, "WRONG_ROOTS", "number of roots")
            self.roots[device] = [data[i:i + 32] for i in range(0, len(data), 32)]
            self._check_times(device, entry["arrivalsUs"])
        ordered = [root for device in devices_of(self.asked) for root in self.roots[device]]
        self.q = tsp1.query(x, self.s, self.nonce, ordered, self.z0 or b"")
        self.x = x

    def _check_times(self, device, arrivals):
        limit, kept, sent = self.asked["limitMs"] * 1000, self.asked["kept"][device], self.given["zSentUs"] or 0
        self.fail(all(a <= b for a, b in zip(arrivals, arrivals[1:])), "OUT_OF_ORDER", "arrivals go back in time")
        self.fail(all(a <= min(limit, sent) for a in arrivals[:kept]), "LATE", "a root of the fill")
        self.fail(all(sent <= a <= sent + limit for a in arrivals[kept:]), "LATE", "a root")

    def kept(self, device):
        return self.fills.asked["kept"][device]

    def seeds(self, device):
        """The seeds of the rounds of this part: of the fill in a memory part."""
        if device not in self.known_seeds:
            count = self.asked["kept"][device] or self.asked["rounds"]
            first = tsp1.first_seed(self.x, self.s, self.index, device)
            self.known_seeds[device] = tsp1.series_seeds(first, self.roots[device][:count])
        return self.known_seeds[device]

    def check_openings(self):
        for device, entry in self.entries.items():
            data = decode_base64(entry["openings"], "openings")
            passing = self.kind in (*tsp1.FILLS, "link")
            depth = self.tiles.bit_length() - 1
            total = 2 * depth + (self.kept(device) - 1).bit_length() if passing else depth
            self.fail(len(data) == 32 * total * self.asked["openings"], "WRONG_OPENINGS", "length of the openings")
            siblings = [data[i:i + 32] for i in range(0, len(data), 32)]
            check = self._check_pass_opening if passing else self._check_round_opening
            for i in range(self.asked["openings"]):
                places = self.tiles * self.kept(device) if passing else self.tiles
                at, tile = tsp1.draw(self.q, device, i, self.asked["rounds"], places)
                held = check(device, at, tile, siblings[i * total:(i + 1) * total], depth)
                self.fail(held, "BAD_OPENING", "opening %d of device %d" % (i, device))

    def _values(self, seed, tile):
        key = (seed, tile)
        if key not in self.cache:
            self.cache[key] = tsp1.tile_values(seed, self.asked["precision"], self.asked["n"], self.asked["k"], tile)
        return self.cache[key]

    def _check_round_opening(self, device, at, tile, path, _depth):
        seed = self.seeds(device)[at]
        values = self._values(seed, tile)
        if self.kind == "bind":
            pair = tsp1.bind_fingerprint(seed, values, self._values(seed, tsp1.bind_partner(seed, tile, self.tiles)))
        else:
            pair = tsp1.fingerprint(seed, values)
        return tsp1.root_of_path(tsp1.leaf(tile, *pair), tile, path) == self.roots[device][at]

    def _check_pass_opening(self, device, j, u, path, depth):
        other = device if self.kind in tsp1.FILLS else (device - 1) % len(self.fills.asked["kept"])
        passes = self.roots[device][-self.asked["rounds"]:]
        z = self.z0 or self.s
        chained = devices_of(self.asked) if self.kind == "memories" else [device]
        for i in range(j):
            z = tsp1.next_pass(z, *[self.roots[one][-self.asked["rounds"]:][i] for one in chained])
        seed, tile = self.fills.seeds(device)[u // self.tiles], u % self.tiles
        values = self._values(seed, tile)
        partner = tsp1.memory_partner(z, u, self.tiles * self.kept(other))
        other_values = self._values(self.fills.seeds(other)[partner // self.tiles], partner % self.tiles)
        pair = tsp1.memory_fingerprint(z, tsp1.kept_words(values), tsp1.kept_words(other_values))
        cut = len(path) - depth
        top = tsp1.root_of_path(tsp1.leaf(u, *pair), u, path[:cut])
        filled = tsp1.root_of_path(tsp1.leaf(tile, *tsp1.fingerprint(seed, values)), tile, path[cut:])
        return (tsp1.sha256(b"tsp1/mem", tsp1.u32(j), top) == passes[j]
                and filled == self.fills.roots[device][u // self.tiles])


def check_parts(challenge, x, predicate):
    """All parts with roots, times and query checked, in order."""
    require(len(predicate["parts"]) == len(challenge["parts"]), "WRONG_PARTS", "number of parts")
    parts, fills = [], None
    for index, (asked, given) in enumerate(zip(challenge["parts"], predicate["parts"])):
        part = Part(index, asked, given, fills)
        part.check(x)
        fills = part.fills
        parts.append(part)
    return parts


def check_signatures(challenge, x, predicate, parts):
    require(predicate["result"] is not None, "NO_RESULT", "the run ended early")
    result = b"".join([b"tsp1/result", x] + [part.q for part in parts])
    for name, key, message, text in (
        ("ready", challenge["proverKey"], b"tsp1/ready" + x, predicate["ready"]),
        ("the prover's result", challenge["proverKey"], result, predicate["result"]["prover"]),
        ("the validator's result", challenge["validatorKey"], result, predicate["result"]["validator"]),
    ):
        require(ed25519.verify(key, message, decode_base64(text, name)), "BAD_SIGNATURE", name)
