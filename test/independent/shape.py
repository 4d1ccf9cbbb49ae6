"""C7: which fields a judgement has, and what may stand in them where the catalogue decides."""
from claims import VERDICT_OF
from evidence import class_of
from refused import require

FIELDS = {
    "judgement": ("outcome", "reason", "catalogue", "devices", "count", "scaling", "claim"),
    "device": ("device", "rates", "classes", "sustained", "memory", "bindPerSecond", "bindShare", "alonePerSecond",
               "linkPerSecond", "identity"),
    "identity 1": ("status", "model", "confidencePercent", "twins", "closest"),
    "identity 2": ("status", "model", "confidencePercent", "cards", "closest"),
    "closest": ("model", "confidencePercent"),
    "count": ("claimed", "least", "established", "sentence"),
    "claim": ("text", "verdict", "reasons"),
}
FINDING = {"code", "verdict", "device", "got", "expected"}
MORE = {"precision", "model", "beside", "restsOn", "ruledOut"}


def no_card(version):
    return {"model": None, "confidencePercent": 0, "twins" if version == 1 else "cards": [], "closest": []}


def need(condition, text):
    require(condition, "WRONG_JUDGEMENT", text)


def fields(value, name):
    need(isinstance(value, dict) and set(value) == set(FIELDS[name]), "fields of the " + name)


def is_text(value):
    return isinstance(value, str) and len(value) <= 1000 and all(" " <= letter <= "~" for letter in value)


def is_texts(value):
    return isinstance(value, list) and all(map(is_text, value))


def is_whole(value, low, high=2**53 - 1):
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def check_shape(judgement, predicate, devices, version):
    fields(judgement, "judgement")
    listed = judgement["devices"]
    need(len(listed) == devices, "number of devices")
    for device in listed:
        fields(device, "device")
        _check_identity(device["identity"], predicate, version)
    _check_count(judgement["count"], devices)
    _check_claim(judgement["claim"], predicate)


def _check_identity(identity, predicate, version):
    fields(identity, "identity %d" % version)
    alike = "twins" if version == 1 else "cards"
    rest = {name: value for name, value in identity.items() if name != "status"}
    if class_of(predicate["claims"]["inventory"]["devices"][0]) == "cpu":
        need(identity["status"] == "cpu" and _same(rest, no_card(version)), "a CPU is no card")
        return
    if predicate["preset"] != "mainnet":
        need(identity["status"] == "insecure" and _same(rest, no_card(version)), "an insecure preset identifies no card")
        return
    named = identity["status"] == "identified"
    need(named or identity["status"] == "unknown", "status of the identity")
    need(is_text(identity["model"]) if named else identity["model"] is None, "model")
    need(is_whole(identity["confidencePercent"], 0, 100) and is_texts(identity[alike]), "confidence or cards")
    need(isinstance(identity["closest"], list), "closest")
    for near in identity["closest"]:
        fields(near, "closest")
        need(is_text(near["model"]) and is_whole(near["confidencePercent"], 0, 100), "closest")


def _same(rest, wanted):
    return rest == wanted and not isinstance(rest["confidencePercent"], bool)


def _check_count(count, devices):
    fields(count, "count")
    need(is_whole(count["claimed"], devices, devices) and is_whole(count["least"], 1), "count")
    need(isinstance(count["established"], bool) and is_text(count["sentence"]), "count")


def _check_claim(claim, predicate):
    text = predicate["claims"]["text"]
    if text is None:
        need(claim is None, "a claim that nobody made")
        return
    fields(claim, "claim")
    words = class_field(predicate) == "kind"
    need(claim["text"] == text and is_text(claim["verdict"]), "claim")
    need(is_texts(claim["reasons"]) if words else _are_findings(claim["reasons"]), "reasons of the claim")


def class_field(predicate):
    """`kind` in version 1, `class` since."""
    return "kind" if "kind" in predicate["claims"]["inventory"]["devices"][0] else "class"


def _are_findings(reasons):
    """docs/spec/identity.md, "Reasons"."""
    if not isinstance(reasons, list):
        return False
    for one in reasons:
        need(isinstance(one, dict) and FINDING <= set(one) <= FINDING | MORE, "fields of a reason")
        need(is_text(one["code"]) and is_text(one["verdict"]) and one["verdict"] == VERDICT_OF.get(one["code"], "unproven"), "a reason")
        need(one["device"] is None or is_whole(one["device"], 0, 31), "device of a reason")
        need(all(is_text(one[name]) or is_whole(one[name], 0) for name in ("got", "expected")), "facts of a reason")
    return True
