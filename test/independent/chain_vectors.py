"""What make_vectors.py writes of docs/spec/chain.md. Whole numbers that may pass 2^53 are decimal strings."""
import accounting
import ecvrf
import ed25519
import lottery
import torsion

SHARES = [(1, 4), (1, 8), (1, 1000), (999, 1000)]
WEIGHTS = [(0, 1), (1, 1), (1, 2), (1, 3), (2, 3), (1, 1000), (1, 2**64 - 1), (2**63, 2**64 - 1), (123456789, 10**12)]


def _texts(numbers):
    return [str(number) for number in numbers]


def lottery_cases(seed):
    genesis, eta = seed("genesis"), seed("eta")
    thresholds = [{"f": [str(n), str(d)], "weight": str(w), "total": str(t), "threshold": "%064x" % lottery.threshold(n, d, w, t)}
                  for n, d in SHARES for w, t in WEIGHTS]
    beta = seed("beta") + seed("beta 2")
    slots = [0, 1, 599, 2**32, 2**53 + 1, 2**64 - 1]
    weights = [5, 0, 1, 2**63, 2**40, 0, 77, 2**62]
    crowd = [(i * 7919) % 1009 * 10**6 + (i % 3) for i in range(1000)]
    return {
        "thresholds": thresholds,
        "alphas": [{"genesis": genesis.hex(), "eta": eta.hex(), "slot": str(s),
                    "alpha": lottery.slot_alpha(genesis, eta, s).hex()} for s in slots],
        "outcomes": [{"beta": beta.hex(), "number": "%064x" % lottery.lottery_number(beta),
                      "randomness": lottery.block_randomness(beta).hex()}],
        "secondaries": [{"weights": _texts(weights), "eta": eta.hex(), "slot": str(s),
                         "author": lottery.secondary(weights, eta, s)} for s in list(range(20)) + slots],
        "etas": [{"previous": eta.hex(), "epoch": str(e), "randomness": [seed("rho %d" % i).hex() for i in range(n)],
                  "eta": lottery.next_eta(eta, e, [seed("rho %d" % i) for i in range(n)]).hex()}
                 for e, n in ((3, 0), (4, 1), (2**53 + 1, 5))],
        "votingSets": [{"weights": _texts(w), "eta": eta.hex(), "exact": exact, "seats": seats,
                        "voters": [[i, str(v)] for i, v in lottery.voting_set(w, eta, exact, seats)]}
                       for w, exact, seats in ((weights, 256, 768), (weights, 2, 10), ([3, 3, 3, 3], 1, 7),
                                               ([9, 1, 1], 1, 3), ([0, 0], 2, 3), (crowd, 256, 768))],
    }


def accounting_cases(seed):
    def numbers(label, count, bits):
        return [int.from_bytes(seed("%s %d" % (label, i)), "big") >> (256 - bits) for i in range(count)]

    rates = [0, 1, 2**53 + 1, 2**64 - 1, 2**64, 2**127] + numbers("rate", 4, 60)
    works = [0, 1, 10**6, 2**64 - 1] + numbers("work", 2, 50)
    powers = [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 5), (100, 0, 100, 100), (100, 0, 101, 100), (2**64, 2**64, 0, 2**65)]
    powers += [tuple(numbers("power %d" % i, 4, 40 + i)) for i in range(8)]
    return {
        "decays": {name: str(value) for name, value in accounting.KEEP.items()},
        "steps": [{"rate": str(r), "work": str(w), "halfLife": h, "next": str(accounting.step(r, w, h))}
                  for r in rates for w in works for h in accounting.KEEP],
        "weights": [{"drilled": str(d), "trained": str(t), "failed": str(f), "settled": str(s),
                     "quality": accounting.quality(d, f), "weight": str(accounting.weight(d, t, f)),
                     "votingWeight": str(accounting.voting_weight(d, t, f, s))} for d, t, f, s in powers],
        "credits": [{"capacity": str(c), "used": str(u), "work": str(w), "credit": str(accounting.credit_within(c, u, w))}
                    for c, u, w in ((0, 0, 5), (10, 0, 11), (10, 0, 12), (10, 11, 1), (10, 20, 1), (9, 3, 100), (10**15, 1, 7))],
        "works": [{"operations": {kind: str(count) for kind, count in o.items()}, "work": str(accounting.work_of(o))}
                  for o in ({"fp32": 432000}, {"fp32": 431999}, {"int8": 8 * 432000}, {"int8": 8 * 432000 - 1}, {},
                            {"fp32": 6 * 17024 * 49152}, {"fp32": 431999, "int32": 0, "int8": 8},
                            {"int32": 10**18, "int8": 7 * 10**20})],
        "burns": [{"blockPart": str(b), "total": str(w), "burn": str(accounting.training_burn(b, w))}
                  for b, w in ((4800 * 10**9, 10**15), (4800 * 10**9, 10**9), (1, 10**15), (4800 * 10**9, 2**64 - 1))],
    }


RFC_9381 = [("16", "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", ""),
            ("17", "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "72"),
            ("18", "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", "af82")]


def vrf_cases(seed):
    given = RFC_9381 + [("ours %d" % i, seed("vrf %d" % i).hex(), (b"ts1-slot" + seed("alpha %d" % i)[:4 * i]).hex())
                        for i in range(9)]
    proofs = []
    for name, secret, alpha in given:
        key = bytes.fromhex(secret)
        proof, beta, tries = ecvrf.prove(key, bytes.fromhex(alpha))
        proofs.append({"name": name, "secret": secret, "public": ed25519.public_key(key).hex(), "alpha": alpha,
                       "proof": proof.hex(), "beta": beta.hex(), "tries": tries})
    judged = []
    for name, public, alpha, proof in torsion.vrf_cases(seed("vrf")):
        beta = ecvrf.verify(public, alpha, proof)
        judged.append({"name": name, "public": public.hex(), "alpha": alpha.hex(), "proof": proof.hex(),
                       "beta": beta and beta.hex()})
    return {"proofs": proofs, "judged": judged}


def torsion_cases(seed):
    """Signatures at the borders, where libraries disagree, judged by the one rule."""
    return [{"name": name, "public": public.hex(), "message": message.hex(), "signature": signature.hex(),
             "valid": ed25519.verify(public, message, signature), "torsionFree": torsion.is_torsion_free(public)}
            for name, public, message, signature in torsion.signature_cases(seed("torsion"))]
