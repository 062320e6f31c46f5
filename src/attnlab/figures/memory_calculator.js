import { bars, change, el, figure, fixed, grid, svg } from "./shared.js";

const LENGTHS = Array.from({ length: 12 }, (_, i) => 2 ** (i + 9));
const COUNTS = Array.from({ length: 8 }, (_, i) => 2 ** i);
const commas = (n) => n.toLocaleString("en");

// The bytes at length n, naive and Flash; the formulas of attnlab.cost.
const needs = ({ batch, heads, d_k, dtype, training }) => {
  const itemsize = dtype === "float32" ? 4 : 2;
  const vectors = (n) => (training ? 8 : 4) * batch * heads * n * d_k * itemsize;
  const tables = (n) => (training ? 3 : 2) * batch * heads * n * n * itemsize;
  return [(n) => vectors(n) + tables(n), (n) => vectors(n) + 4 * batch * heads * n];
};

const longest = (need, memory) => {
  let [low, high] = [0, 1];
  while (need(high) <= memory) [low, high] = [high, 2 * high];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    [low, high] = need(middle) <= memory ? [middle, high] : [low, middle];
  }
  return low;
};

export const compute = (state) => {
  const both = needs(state);
  const at = (n) => both.map((need) => need(n));
  const [naive, flash] = at(state.n);
  return {
    naive,
    flash,
    curves: LENGTHS.map(at),
    longest: state.gpus.map(([, memory]) => both.map((need) => longest(need, memory * 1e9))),
  };
};

const size = (count) => {
  const [unit, scale] = [["PB", 1e15], ["TB", 1e12], ["GB", 1e9], ["MB", 1e6]].find(([u, s]) => count >= s || u === "MB");
  return `${fixed(count / scale, 1)} ${unit}`;
};

export const describe = (state, { naive, flash }) => {
  const { n, batch, heads, d_k, dtype, training, gpus } = state;
  const where = (need) => {
    const names = gpus.filter(([, memory]) => need <= memory * 1e9).map(([name]) => name);
    return names.length === gpus.length ? "all" : names.join(", ") || "none";
  };
  return (
    `One layer over ${commas(n)} positions, batch ${batch}, ${heads} × ${d_k}, ${dtype}, ` +
    `${training ? "training" : "forward"}: naive attention takes ${size(naive)}, Flash ${size(flash)}. ` +
    `Naive fits on ${where(naive)}, Flash on ${where(flash)}.`
  );
};

// The picture is logarithmic both ways: lengths along, 1 MB to 100 TB upwards.
const x = (n) => 40 + (290 * Math.log2(n / 512)) / 11;
const y = (bytes) => 180 - (170 * Math.log10(bytes / 1e6)) / 8;

const build = (root, ui) => {
  const text = (px, py, words, anchor = "end") => svg("text", { x: px, y: py, "text-anchor": anchor }, words);
  const lines = [0, 1].map((i) => svg("path", { fill: "none", "stroke-width": 2, style: `stroke:var(--attn-${i})` }));
  const dots = [
    svg("circle", { r: 4.5, style: "fill:var(--attn-0)" }),
    svg("rect", { width: 8, height: 8, style: "fill:var(--attn-1)" }),
  ];
  const names = [text(0, 0, "naive"), text(0, 0, "Flash", "start")];
  const gpu = text(36, 0, "GPUs");
  const band = svg("rect", { x: 40, width: 290, style: "fill:var(--attn-2)", "fill-opacity": 0.3 });
  const cut = svg("line", { y1: 10, y2: 180, stroke: "currentColor", "stroke-dasharray": "2 3" });
  const axes = svg("path", { d: "M40 10V180H330", fill: "none", stroke: "currentColor" });
  const ticks = ["1 MB", "1 GB", "1 TB"].map((name, i) => text(36, y(10 ** (6 + 3 * i)) + 4, name));
  const along = [512, 32768, 2 ** 20].map((n, i) => text(x(n), 194, commas(n), ["start", "middle", "end"][i]));
  const inner = svg("svg", { x: 40, y: 6, width: 290, height: 174, viewBox: "40 6 290 174" }, band, cut, ...lines, ...dots, ...names);
  const need = bars("Memory: attention, and the GPUs");
  change(need.node, { class: "attn-bars attn-wide" });
  const ends = grid("Longest n that fits (✓: yours too)");
  ends.node.classList.add("attn-steps");
  root.append(
    el(
      "div",
      { class: "attn-row" },
      ui.range("n", { label: "Length n", values: LENGTHS, show: commas }),
      ui.range("batch", { label: "Batch", values: COUNTS }),
      ui.range("heads", { label: "Heads", values: COUNTS }),
      ui.choice("d_k", { label: "Width of a head", options: [32, 64, 128].map((d) => [d, String(d)]) }),
      ui.choice("dtype", { label: "Numbers", options: ["float32", "bfloat16"].map((d) => [d, d]) }),
      ui.toggle("training", { label: "With the backward pass" }),
    ),
    el(
      "div",
      { class: "attn-row" },
      svg("svg", { viewBox: "0 0 340 200", "aria-hidden": "true" }, inner, axes, gpu, ...ticks, ...along),
      need.node,
    ),
    ends.node,
  );
  return ({ n, gpus }, { naive, flash, curves, longest }) => {
    const memory = gpus.map(([, gb]) => gb * 1e9);
    const [least, most] = [Math.min(...memory), Math.max(...memory)];
    change(band, { y: y(most), height: y(least) - y(most) });
    change(gpu, { y: (y(least) + y(most)) / 2 + 4 });
    change(cut, { x1: x(n), x2: x(n) });
    lines.forEach((line, i) => {
      change(line, { d: `M${LENGTHS.map((m, j) => `${x(m)},${y(curves[j][i])}`).join(" ")}` });
      const last = curves.findLastIndex((pair) => y(pair[i]) > 30); // still inside
      const at = Math.max(1, Math.min(8, last));
      change(names[i], { x: x(LENGTHS[at]), y: y(curves[at][i]) + [-8, 18][i] });
    });
    change(dots[0], { cx: x(n), cy: y(naive) });
    change(dots[1], { x: x(n) - 4, y: y(flash) - 4 });
    need.paint(["naive", "Flash", ...gpus.map(([name]) => name)], [naive, flash, ...memory], { largest: most, text: size });
    need.node.querySelectorAll("i").forEach((bar, i) => {
      bar.style.background = `var(--attn-${["0", "1"][i] ?? "muted"})`;
    });
    ends.paint({
      rows: gpus.map(([name]) => name),
      columns: ["naive", "Flash"],
      values: longest.map((pair) => pair.map((most) => (most < n ? 0 : 0.4))),
      text: (share, i, j) => commas(longest[i][j]) + (share ? " ✓" : ""),
      series: 2,
    });
  };
};

export default {
  render: figure({ traits: ["n", "batch", "heads", "d_k", "dtype", "training", "gpus"], compute, describe, build }),
};
