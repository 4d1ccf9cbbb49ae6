"""C1 and the outer half of C2: the signed file, and JSON that two readers cannot read differently."""
import base64
import binascii
import json
import re

import ed25519
from refused import Refused, require

LIMIT = 96 * 1024 * 1024
DEPTH = 16
PAYLOAD_TYPE = b"application/vnd.in-toto+json"
SPELLING = re.compile(
    rb'\{"payloadType":"application/vnd\.in-toto\+json","payload":"([A-Za-z0-9+/]+={0,2})",'
    rb'"signatures":\[(\{"keyid":"[0-9a-f]{64}","sig":"[A-Za-z0-9+/]{86}=="\}(?:,\{"keyid":"[0-9a-f]{64}","sig":"[A-Za-z0-9+/]{86}=="\}){0,7})\]\}\n'
)
SIGNATURE = re.compile(rb'"keyid":"([0-9a-f]{64})","sig":"([A-Za-z0-9+/=]+)"')


def decode_base64(text, what):
    """Base64 that has one spelling only: padded, no foreign character, spare bits zero."""
    data = text.encode("ascii") if isinstance(text, str) else text
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise Refused("MALFORMED", what + " is no base64") from None
    require(base64.b64encode(decoded) == data, "MALFORMED", what + " is base64 in another spelling")
    return decoded


def read_file(path):
    with open(path, "rb") as file:
        data = file.read(LIMIT + 1)
    require(len(data) <= LIMIT, "TOO_LARGE", "over 96 MiB")
    return data


def open_envelope(data, trusted):
    """(the statement's bytes, the signers' keys) of a file signed by a trusted key."""
    match = SPELLING.fullmatch(data)
    require(match, "MALFORMED", "not an envelope in its one spelling (C1)")
    payload = decode_base64(match.group(1), "payload")
    found = [(bytes.fromhex(key.decode()), decode_base64(text, "sig")) for key, text in SIGNATURE.findall(match.group(2))]
    keys = [key for key, _ in found]
    require(all(a < b for a, b in zip(keys, keys[1:])), "MALFORMED", "signatures out of order")
    signed = b"DSSEv1 %d %s %d " % (len(PAYLOAD_TYPE), PAYLOAD_TYPE, len(payload)) + payload
    for key, signature in found:
        require(ed25519.verify(key, signed, signature), "BAD_SIGNATURE", "a signature does not fit the statement")
    named = ", ".join(key.hex() for key in keys)
    require(trusted & set(keys), "UNKNOWN_SIGNER", "signed by %s; name it with --trust to accept it" % named)
    return payload, keys


def _depth_within(text, limit):
    depth, in_string, escaped = 0, False, False
    for character in text:
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
            if depth > limit:
                return False
        elif character in "]}":
            depth -= 1
    return True


def _object(pairs):
    found = dict(pairs)
    require(len(found) == len(pairs), "MALFORMED", "a key occurs twice")
    return found


def _number(text):
    """A number is an IEEE double; a whole one is shown as an integer."""
    value = float(text)
    require(value - value == 0, "MALFORMED", "a number out of range")
    return int(value) if value.is_integer() else value


def write_number(value):
    """As ECMAScript writes a double: the shortest digits, plain between 10^-7 and 10^21."""
    if isinstance(value, int) and abs(value) <= 2**53:
        return str(value)
    mantissa, _, exponent = ("%r" % float(value)).partition("e")
    sign, digits = ("-", mantissa[1:]) if mantissa[0] == "-" else ("", mantissa)
    whole, _, fraction = digits.partition(".")
    fraction = "" if fraction == "0" else fraction
    point, digits = len(whole) + int(exponent or 0), (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = "e%s%d" % ("+" if point > 0 else "-", abs(point - 1))
    return sign + digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + power


_spell = json.JSONEncoder(ensure_ascii=False).encode


def write_json(value, ordered=False):
    """The one spelling of C2: no spaces, keys as they came (or sorted), only the escapes that JSON demands."""
    if isinstance(value, dict):
        pairs = sorted(value.items()) if ordered else value.items()
        return "{%s}" % ",".join("%s:%s" % (write_json(name), write_json(inner, ordered)) for name, inner in pairs)
    if isinstance(value, list):
        return "[%s]" % ",".join(write_json(inner, ordered) for inner in value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return write_number(value)
    return _spell(value)


def _constant(name):
    raise Refused("MALFORMED", name + " is no JSON")


def read_json(payload):
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("MALFORMED", "the statement is no UTF-8") from None
    require(_depth_within(text, DEPTH), "MALFORMED", "nested more than 16 deep")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_int=_number, parse_float=_number, parse_constant=_constant)
    except json.JSONDecodeError:
        raise Refused("MALFORMED", "the statement is no JSON") from None
    require(write_json(value) == text, "MALFORMED", "the statement is spelled differently (C2)")
    return value
