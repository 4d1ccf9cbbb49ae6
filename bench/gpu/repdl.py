"""Microsoft's RepDL (bit-exact fp32) on this card: its product and a training step of an MLP, as mlp.ts measures ours.

    python3 repdl.py FOLDER OUT.json

FOLDER holds RepDL's sources (https://github.com/microsoft/RepDL); nothing of them is here. Its CUDA files are built with
the PyTorch of this machine, without convolutions, and its layers and loss are taken from the folder as they are. RepDL has
no SGD: PyTorch's stands in for it, which is the same from run to run too.
"""

import glob
import importlib
import json
import os
import sys
import tempfile
import types

import torch
from torch.utils import cpp_extension

PARTS = ["cross_entropy", "matrix_multiplication", "softmax", "summation"]
SHAPES = {
    "digits": ([64, 128, 64, 10], 64),
    "wide": ([4096, 8192, 8192, 8192, 1024], 8192),
}


def build(folder):
    binds = "".join(f"void bind_{part}(py::module_ &m);\n" for part in PARTS)
    calls = "".join(f"  bind_{part}(m);\n" for part in PARTS)
    own = os.path.join(tempfile.mkdtemp(), "bindings.cpp")
    with open(own, "w") as file:
        file.write(f"#include <torch/extension.h>\n{binds}PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{\n{calls}}}\n")
    found = glob.glob(os.path.join(folder, "backend/cuda/*.c*"))
    sources = [path for path in found if os.path.basename(path) not in ("convolution.cu", "bind.cpp")]
    os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "9.0")
    return cpp_extension.load("repdl_cuda", [own, *sources])


def layers_of(folder, cuda):
    """RepDL's modules, without its __init__, which wants convolutions and a backend for the processor."""
    for name, path in {"repdl": "repdl", "repdl.nn": "repdl/nn"}.items():
        package = types.ModuleType(name)
        package.__path__ = [os.path.join(folder, path)]
        sys.modules[name] = package
    backend = types.ModuleType("repdl.backend")
    backend.cuda = backend.cpu = cuda
    sys.modules["repdl.backend"] = backend
    return importlib.import_module("repdl.nn.linear").Linear, importlib.import_module("repdl.nn.loss").cross_entropy


def seconds(work, times, rounds=3):
    """The quickest of some rounds."""
    work()
    best = float("inf")
    for _ in range(rounds):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(times):
            work()
        end.record()
        end.synchronize()
        best = min(best, start.elapsed_time(end) / 1000 / times)
    return best


def product(cuda, n=8192):
    a, b = (torch.randn(n, n, device="cuda") for _ in range(2))
    ways = {"a b": (False, False), "a b^T": (False, True), "a^T b": (True, False)}
    return {name: 2 * n**3 / seconds(lambda: cuda.mm(a, b, *turned), 3) for name, turned in ways.items()}


def step(Linear, cross_entropy, sizes, batch):
    layers = []
    for i in range(len(sizes) - 1):
        layers += [Linear(sizes[i], sizes[i + 1]), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1]).cuda()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    x = torch.randn(batch, sizes[0], device="cuda")
    y = torch.randint(sizes[-1], (batch,), device="cuda")

    def once():
        optimiser.zero_grad()
        cross_entropy(model(x), y).backward()
        optimiser.step()

    return seconds(once, 200 if batch < 1000 else 3)


def main(folder, out):
    cuda = build(folder)
    Linear, cross_entropy = layers_of(folder, cuda)
    found = {"card": torch.cuda.get_device_name(), "torch": torch.__version__, "product": product(cuda)}
    print("product:", {name: f"{rate / 1e12:.1f} T/s" for name, rate in found["product"].items()})
    for name, (sizes, batch) in SHAPES.items():
        found[name] = {"sizes": sizes, "batch": batch, "seconds": step(Linear, cross_entropy, sizes, batch)}
        print(f"{name}: {1000 * found[name]['seconds']:.3f} ms a step")
    with open(out, "w") as file:
        json.dump(found, file, indent=2)


main(*sys.argv[1:])
