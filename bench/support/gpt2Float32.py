"""Mean loss of a GPT-2 in binary32, written apart from src/: gpt2Float32.py FOLDER TOKENS WIDTH, tokens as u16 rows."""
import json
import struct
import sys

import numpy as np

folder, path, width = sys.argv[1], sys.argv[2], int(sys.argv[3])
config = json.load(open(folder + "/config.json"))
data = open(folder + "/model.safetensors", "rb").read()
(length,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8 : 8 + length])


def tensor(name):
    start, end = header[name]["data_offsets"]
    values = np.frombuffer(data[8 + length + start : 8 + length + end], dtype="<f2")
    return values.astype(np.float32).reshape(header[name]["shape"])


def norm(x, name):
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(config["layer_norm_epsilon"]))
    return scaled * tensor(name + ".weight") + tensor(name + ".bias")


def linear(x, name):
    return x @ tensor(name + ".weight") + tensor(name + ".bias")


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.float32((2 / np.pi) ** 0.5) * (x + np.float32(0.044715) * x**3)))


def log_softmax(x):
    top = x - x.max(-1, keepdims=True)
    return top - np.log(np.exp(top).sum(-1, keepdims=True))


def logits(tokens):
    count, heads = len(tokens), config["n_head"]
    x = tensor("wte.weight")[tokens] + tensor("wpe.weight")[:count]
    later = np.triu(np.full((count, count), -np.inf, dtype=np.float32), 1)
    for i in range(config["n_layer"]):
        at = "h.%d." % i
        q, k, v = np.split(linear(norm(x, at + "ln_1"), at + "attn.c_attn"), 3, axis=-1)
        q, k, v = (y.reshape(count, heads, -1).transpose(1, 0, 2) for y in (q, k, v))
        scores = q @ k.transpose(0, 2, 1) / np.float32(q.shape[-1] ** 0.5) + later
        out = (np.exp(log_softmax(scores)) @ v).transpose(1, 0, 2).reshape(count, -1)
        x = x + linear(out, at + "attn.c_proj")
        x = x + linear(gelu(linear(norm(x, at + "ln_2"), at + "mlp.c_fc")), at + "mlp.c_proj")
    return norm(x, "ln_f") @ tensor("wte.weight").T


windows = np.fromfile(path, dtype="<u2").reshape(-1, width)
total = 0.0
for window in windows:
    said = log_softmax(logits(window[:-1]))
    total -= float(said[np.arange(width - 1), window[1:]].astype(np.float64).sum())
print(json.dumps({"loss": total / (len(windows) * (width - 1)), "type": str(logits(windows[0][:-1]).dtype)}))
