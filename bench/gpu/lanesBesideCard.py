"""What busy cores cost a card that works beside them: lanes of hashes on each (docs/adr/0032).

Needs PyTorch with CUDA and hashlib; not our program, so it shows the effect of busy cores alone:
    python3 bench/gpu/lanesBesideCard.py
Products are synchronised one by one, as the harshest case of a host that waits for its card. Idle and busy take turns.
"""
import hashlib
import os
import statistics
import subprocess
import sys
import time

SIZE = 8192
SECONDS = 3
PAIRS = 5


def lane():
    os.nice(10)
    block, at = bytes(262144), b"x" * 64
    while True:
        digest = hashlib.sha512(at)
        digest.update(block)
        at = digest.digest()


def main():
    import torch

    a, b = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(2))

    def rate(seconds):
        torch.mm(a, b)
        torch.cuda.synchronize()
        count, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            torch.mm(a, b)
            torch.cuda.synchronize()
            count += 1
        return count * 2 * SIZE**3 / (time.perf_counter() - began) / 1e12

    rate(5)
    ratios = []
    for _ in range(PAIRS):
        idle = rate(SECONDS)
        lanes = [subprocess.Popen([sys.executable, __file__, "lane"]) for _ in range(os.cpu_count())]
        time.sleep(0.7)
        busy = rate(SECONDS)
        for process in lanes:
            process.kill()
        for process in lanes:
            process.wait()
        ratios.append(busy / idle)
        print(f"idle {idle:.1f} T, lanes on all {os.cpu_count()} cores {busy:.1f} T, ratio {busy / idle:.4f}", flush=True)
    print(f"median ratio {statistics.median(ratios):.4f}")


if __name__ == "__main__":
    lane() if sys.argv[1:] == ["lane"] else main()
