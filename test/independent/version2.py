"""What certificates carry since version 2 (C3): times, the catalogue they were judged by, anchor and extensions."""
import datetime

import tsp1
from envelope import write_json
from refused import require
from shape import is_text

DAY_MS = 24 * 3600 * 1000


def milliseconds(text):
    """Of an instant in its one spelling; what no calendar has is refused."""
    try:
        moment = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    except ValueError:
        require(False, "MALFORMED", "a time that is none")
    return int((moment - datetime.datetime(1970, 1, 1)) / datetime.timedelta(milliseconds=1))


def check_times(predicate):
    started, issued, ends = (milliseconds(predicate[name]) for name in ("startedAt", "issuedAt", "notAfter"))
    shown = sum(max(entry["arrivalsUs"][-1] for entry in part["devices"]) for part in predicate["parts"])
    require(0 <= issued - started <= 7 * DAY_MS, "WRONG_TIMES", "start and issue")
    require(1000 * (issued - started) >= shown, "WRONG_TIMES", "shorter than its own parts")
    require(0 < ends - issued <= 366 * DAY_MS, "WRONG_TIMES", "validity")


def catalogue_hash(catalogue):
    return tsp1.sha256(b"tsp1/catalogue", write_json(catalogue, ordered=True).encode()).hex()


def check_anchor(predicate):
    anchor = predicate.get("anchor")
    if anchor is None:
        return
    require(len(anchor["parts"]) >= len(predicate["parts"]), "WRONG_ANCHOR", "blocks")
    for part, entry in zip(predicate["parts"], anchor["parts"]):
        seed = tsp1.sha256(b"tsp1/s", bytes.fromhex(entry["block"]), bytes.fromhex(entry["random"]))
        require(seed.hex() == part["s"], "WRONG_ANCHOR", "a seed that does not follow from its block")


def is_plain(value):
    if isinstance(value, dict):
        return all(is_plain(name) and is_plain(inner) for name, inner in value.items())
    return all(map(is_plain, value)) if isinstance(value, list) else not isinstance(value, str) or is_text(value)


def check_version2(predicate):
    unknown = [name for name in predicate.get("extensions", {}) if name.startswith("must-")]
    require(not unknown, "UNKNOWN_EXTENSION", "an extension that must be known")
    require(is_plain(predicate.get("extensions", {})), "MALFORMED", "an extension that is not plain")
    require(catalogue_hash(predicate["catalogue"]) == predicate["judgement"]["catalogue"], "WRONG_CATALOGUE", "another hash")
    check_times(predicate)
    check_anchor(predicate)
