"""What make_vectors.py writes of docs/spec/chain.md. Whole numbers that may pass 2^53 are decimal strings."""
import lottery

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
