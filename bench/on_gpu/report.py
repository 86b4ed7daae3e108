"""The table, geometric means, and what no GPU can be faster than."""
import math

# Dense products of an H200 on random data, and copies of its memory, as measured.
PEAK_TFLOPS = {"fp16": 800, "bf16": 800, "tf32": 400, "fp32": 60}
BANDWIDTH_TBS = 4.0


def floor_ms(spec, batch, precision):
    """Arithmetic at the peak, or weights and every layer's operands through memory once: the longer of the two."""
    wide = 1 if precision in ("fp16", "bf16") else 2
    arithmetic = spec["flops"] * batch / (PEAK_TFLOPS[precision] * 1e9)
    moved = wide * (2 * spec["weight_count"] + spec["layer_bytes"] * batch) / (BANDWIDTH_TBS * 1e9)
    return max(arithmetic, moved)


def time_of(side, key="queued_ms"):
    return side.get(key) if side else None


def peers_of(row):
    """Time of each of PyTorch's ways."""
    times = {k: time_of(row["peers"].get(k)) for k in ("eager", "compiled")}
    return {k: t for k, t in times.items() if t}


def ratio(row, variant, peer):
    """The peer's time over ours: above 1, Trine is faster. `fastest`: of the faster peer."""
    ours, peers = time_of(row["ours"].get(variant)), peers_of(row)
    theirs = min(peers.values(), default=None) if peer == "fastest" else peers.get(peer)
    return theirs / ours if ours and theirs else None


def number(value, form="{:.1f}"):
    return form.format(value) if value is not None else "-"


def micros(ms):
    return number(ms * 1e3 if ms is not None else None)


def heads(variants):
    return ["network", "batch", *(f"{v} us" for v in variants), "eager us", "compiled us", "over eager", "over compiled",
            "floor us", "of floor", "error", "eager's"]


def cells(row, variants):
    """A line of the table; ratios are those of the first variant."""
    first = row["ours"].get(variants[0], {})
    peers = peers_of(row)
    ours = time_of(first)
    error = first.get("error")
    return [row["network"], str(row["batch"]), *(micros(time_of(row["ours"].get(v))) for v in variants),
            micros(peers.get("eager")), micros(peers.get("compiled")), number(ratio(row, variants[0], "eager"), "{:.2f}"),
            number(ratio(row, variants[0], "compiled"), "{:.2f}"), micros(row["floor_ms"]),
            number(ours / row["floor_ms"] if ours else None), error if isinstance(error, str) else number(error, "{:.1e}"),
            number((row["peers"].get("errors") or {}).get("eager"), "{:.1e}")]


def table(rows, variants):
    lines = [heads(variants), *(cells(r, variants) for r in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return ["  ".join(c.ljust(w) if not i else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))) for line in lines]


def markdown(rows, variants):
    names = heads(variants)
    lines = [names, ["---"] + ["---:"] * (len(names) - 1), *(cells(r, variants) for r in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def means(rows, variants):
    """For each batch size and variant: over eager, over compiled, over the faster of both, and of the floor."""
    lines = []
    for batch in dict.fromkeys(r["batch"] for r in rows):
        some = [r for r in rows if r["batch"] == batch]
        for variant in variants:
            parts = []
            for peer in ("eager", "compiled", "fastest"):
                ratios = [x for r in some if (x := ratio(r, variant, peer))]
                if ratios:
                    parts.append(f"over {peer} {geometric_mean(ratios):.2f} (least {min(ratios):.2f}, of {len(ratios)})")
            shares = [t / r["floor_ms"] for r in some if (t := time_of(r["ours"].get(variant)))]
            if shares:
                parts.append(f"{geometric_mean(shares):.2f} times the floor")
                lines.append(f"batch {batch}, {variant}: geometric means: {'; '.join(parts)}")
    return lines


def failures(rows):
    found = []
    for row in rows:
        sides = {**row["ours"], "PyTorch": row["peers"]}
        found += [f"{row['network']}, batch {row['batch']}, {k}: {s['failed']}" for k, s in sides.items() if s and "failed" in s]
        found += [f"{row['network']}, batch {row['batch']}, {k}: results differ by {s['error']}"
                  for k, s in row["ours"].items() if s and not sound(s.get("error"), row["precision"], (row["peers"].get("errors") or {}).get("eager"))]
    return found


def sound(error, precision, peers=None):
    """Whether results are what the number format allows: halves of eight bits of fraction lose more than those of eleven.
    Where PyTorch in the same format is further from its own f32 results, that is the measure."""
    most = {"fp16": 0.02, "bf16": 0.1, "tf32": 0.02, "fp32": 1e-3}[precision]
    most = max(most, peers) if isinstance(peers, float) else most
    return error is None or (not isinstance(error, str) and error <= most)
