#!/usr/bin/env python3
"""A second verifier of certificates, written from docs/spec alone.

check_certificate.py FILE [--trust KEY]... [--without-openings]

Exit 0: every signature, root, opening and derived figure holds. Exit 1: it does not, and one line says why.
Openings of the size of mainnet are a long wait in plain Python; without them the line says 0 openings.
Not judged: the count of cards; in version 1, which carries no catalogue, also identity, memory status, claim, UNDERSIZED_RUN.
"""
import sys

from envelope import open_envelope, read_file, read_json
from evidence import check_challenge, check_parts, check_signatures
from judgement import check_figures, check_judgement
from refused import Refused
from schema import Schema
from version2 import check_version2


def check(data, trusted, with_openings=True):
    """Raises Refused, or returns one line that says what was checked. The steps are those of C8."""
    payload, signers = open_envelope(data, trusted)
    statement = read_json(payload)
    Schema(1 if isinstance(statement, dict) and statement.get("predicateType") == "urn:touchstone:proof-of-gpu:1" else 2).check(statement)
    predicate = statement["predicate"]
    challenge, x = check_challenge(statement, predicate, signers)
    if predicate["judgement"]["outcome"] == "rejected":
        raise Refused("REJECTED", "the validator rejected this run: %s" % (predicate["judgement"]["reason"] or {}).get("code"))
    parts = check_parts(challenge, x, predicate)
    if challenge["version"] > 1:
        check_version2(predicate)
    check_signatures(challenge, x, predicate, parts)
    figures = check_figures(predicate, parts)
    for part in parts if with_openings else []:
        part.check_openings()
    check_judgement(challenge, predicate, parts, figures)
    opened = sum(part.asked["openings"] * len(part.entries) for part in parts) if with_openings else 0
    return "holds: run %s, preset %s, %d parts, %d openings" % (challenge["runId"].hex(), predicate["preset"], len(parts), opened)


def read_arguments(arguments):
    files, trusted, with_openings = [], set(), "--without-openings" not in arguments
    arguments = [argument for argument in arguments if argument != "--without-openings"]
    while arguments:
        first = arguments.pop(0)
        if first == "--trust" and arguments:
            trusted.add(bytes.fromhex(arguments.pop(0)))
        else:
            files.append(first)
    if len(files) != 1 or files[0].startswith("--"):
        sys.exit(__doc__)
    return files[0], trusted, with_openings


def main():
    path, trusted, with_openings = read_arguments(sys.argv[1:])
    try:
        print(check(read_file(path), trusted, with_openings))
    except Refused as refused:
        print("refused: %s" % refused)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
