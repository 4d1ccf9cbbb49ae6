# The same GPT in PyTorch, bf16 with torch.compile, scaled_dot_product_attention and fused AdamW: what exact training is
# held against. bench/gpu/workBeside.sh runs it beside bench/gpu/work.ts and bench/gpu/learn.ts on one card.
#   python3 torchTrain.py speed OUT.json
#   python3 torchTrain.py learn WINDOWS.bin OUT.json     windows of 1,025 bytes in the order in which they are taken
import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, CONTEXT = 256, 1024


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.o = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        sequences, tokens, width = x.shape
        q, k, v = (part.view(sequences, tokens, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(sequences, tokens, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, layers, width, heads):
        super().__init__()
        self.embed, self.positions = nn.Embedding(VOCABULARY, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.final, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens, targets):
        x = self.embed(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.final(x)).float().view(-1, VOCABULARY), targets.reshape(-1))


def trainer(layers, width, heads, rate, pure):
    """A step: weights in fp32 under autocast, or all of it in bf16."""
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    model = GPT(layers, width, heads).cuda()
    if pure:
        model = model.bfloat16()
    for i, block in enumerate(model.blocks):
        model.blocks[i] = torch.compile(block)
    parameters = list(model.parameters())
    optimiser = torch.optim.AdamW(parameters, lr=rate, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1, fused=True)

    def step(batch):
        with torch.autocast("cuda", torch.bfloat16, enabled=not pure):
            loss = model(batch[:, :-1], batch[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        return loss

    return step, optimiser, sum(p.numel() for p in parameters)


def speed(out):
    rows = {"torch": torch.__version__, "card": torch.cuda.get_device_name()}
    for name, pure in (("autocast", False), ("bf16 weights", True)):
        step, _, parameters = trainer(24, 2048, 16, 3e-4, pure)
        batch = torch.randint(0, VOCABULARY, (16, CONTEXT + 1), device="cuda")
        for _ in range(4):
            step(batch)
        torch.cuda.synchronize()
        begun = time.perf_counter()
        for _ in range(10):
            step(batch)
        torch.cuda.synchronize()
        each = (time.perf_counter() - begun) / 10
        rows[name] = {"parameters": parameters, "secondsPerStep": each, "tokensPerSecond": 16 * CONTEXT / each}
        print(name, rows[name], flush=True)
        del step
        torch.cuda.empty_cache()
    json.dump(rows, open(out, "w"), indent=1)


def rate_at(t, rates=((0, 6e-6), (100, 6e-4), (2000, 6e-5))):
    for (t0, r0), (t1, r1) in zip(rates, rates[1:]):
        if t <= t1:
            return r0 + (t - t0) / (t1 - t0) * (r1 - r0)
    return rates[-1][1]


def learn(windows, out):
    data = torch.frombuffer(bytearray(open(windows, "rb").read()), dtype=torch.uint8).view(-1, CONTEXT + 1)
    step, optimiser, parameters = trainer(12, 768, 12, 6e-4, False)
    losses, begun = [], time.perf_counter()
    for t in range(len(data) // 8):
        for group in optimiser.param_groups:
            group["lr"] = rate_at(t + 1)
        losses.append(step(data[8 * t : 8 * t + 8].cuda().long()).detach())
    losses = [loss.item() for loss in losses]
    seconds = time.perf_counter() - begun
    print(parameters, "parameters,", len(losses), "steps,", seconds, "s, last", losses[-1], flush=True)
    json.dump({"parameters": parameters, "seconds": seconds, "losses": losses}, open(out, "w"))


if sys.argv[1] == "speed":
    speed(sys.argv[2])
else:
    learn(sys.argv[2], sys.argv[3])
