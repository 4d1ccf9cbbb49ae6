"""C8.3: what makes a run of preset mainnet whole, from the challenge and what the devices offered.

whole.py < CASES     a JSON list of {parts, devices}; prints a list of true (whole) and false
"""
import json
import sys

from refused import Refused, require

FILLS = ("memory", "memories")
PRECISIONS = ("int8", "fp8", "bf16", "fp16", "fp32")
ENTRY_BYTES = {"int8": 1, "fp8": 1, "bf16": 2, "fp16": 2, "fp32": 4}
SIZES = {"cpu": (2048, 1024, 512, 256, 128, 64), "gpu": (32768, 16384, 8192, 4096, 2048, 1024)}


def depth(device_class, kind, precision):
    if device_class == "cpu" or kind == "bind":
        return 2048
    return 8192 if precision == "fp32" else 32768


def product_bytes(size, k, precision):
    return 2 * size * k * ENTRY_BYTES[precision] + 4 * size * size + 64 * (size // 32) ** 2


def largest(device_class, precision, k, room):
    sizes = SIZES[device_class]
    return next((size for size in sizes if product_bytes(size, k, precision) <= room), sizes[-1])


def fits(devices, precision, k):
    return min(largest(device["class"], precision, k, 0.9 * device["freeBytes"]) for device in devices)


def memory_size(device, k):
    return 512 if device["class"] == "cpu" else largest("gpu", "int8", k, 0.03 * device["memoryBytes"])


def most_kept(device, size, k):
    tiles = (size // 32) ** 2
    room = device["freeBytes"] - product_bytes(size, k, "int8") - 512 * 2**20
    whole = 128 * 2**20 if device["class"] == "cpu" else min(0.96 * device["memoryBytes"], room)
    return min(4096, (2**32 - 1) // tiles, max(2, int(whole // (2080 * tiles))))


def check_whole(challenge, devices):
    """Refuses a challenge that leaves out, shortens or shrinks anything mainnet prescribes."""
    def need(condition, text):
        require(condition, "BAD_PRESET", "mainnet, but " + text)

    parts, everyone, device_class = challenge["parts"], (1 << len(devices)) - 1, devices[0]["class"]
    offered = [name for name in PRECISIONS if all(name in device["precisions"] for device in devices)]
    again = offered[:1] if "bf16" not in offered else ["bf16"]
    wanted = [("rounds", name, everyone) for name in offered + again] + [("memory", "int8", everyone)]
    # Of several devices they are read together; before that was so, each by itself.
    kinds = ["memory" if len(devices) > 1 and part["kind"] == "memories" else part["kind"] for part in parts]
    need(len(devices) > 1 or "memories" not in kinds, "memories of one device")
    readable = len(devices) > 1 and all(device["details"].get("peers") is not False for device in devices)
    wanted += [("link", "int8", everyone)] if readable and "link" in kinds else []
    wanted += [("bind", "int8", everyone)]
    wanted += [("rounds", offered[0], 1 << index) for index in range(len(devices)) if offered and len(devices) > 1]
    need([(kind, part["precision"], part["mask"]) for kind, part in zip(kinds, parts)] == wanted, "the parts are not those it has")
    sizes = {part["precision"]: part["m"] for part in reversed(parts) if part["kind"] == "rounds"}
    for name, size in sizes.items():
        most = fits(devices, name, depth(device_class, "rounds", name))
        need(min(most, 128 if device_class == "cpu" else 1024) <= size <= most, "m of " + name)
    deep = depth(device_class, "memory", "int8")
    held = min(memory_size(device, deep) for device in devices)
    bound = sizes["int8"] if "int8" in sizes else fits(devices, "int8", 2048)
    for part in parts:
        size = {"rounds": sizes.get(part["precision"]), "bind": bound}.get(part["kind"], held)
        need(part["m"] == size, "m of a %s part" % part["kind"])
        for kept, device in zip(part["kept"], devices) if part["kind"] in FILLS else ():
            most = most_kept(device, held, deep)
            need(kept == most or device_class == "cpu" and 2 <= kept <= most, "kept rounds")
        need(part["mask"] == everyone or 3 * part["rounds"] >= parts[0]["rounds"], "a part of one device that is too short")


def is_whole_run(case):
    try:
        check_whole({"parts": case["parts"]}, case["devices"])
    except Refused:
        return False
    return True


if __name__ == "__main__":
    json.dump([is_whole_run(case) for case in json.load(sys.stdin)], sys.stdout)
