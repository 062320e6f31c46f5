import { change, el, figure, fixed, grid, svg } from "./shared.js";

const LENGTHS = Array.from({ length: 12 }, (_, i) => 2 ** (i + 9));
const COUNTS = Array.from({ length: 8 }, (_, i) => 2 ** i);
const PRESETS = [["7B", 32], ["70B", 64]].flatMap(([name, heads]) =>
  [8, 128].map((k) => [`${name} model, ${k}k`, { n: 1024 * k, heads, batch: 1, d_k: 128, dtype: "bfloat16" }]),
);
const GIB = 2 ** 30;
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
  const [naive, flash] = needs(state);
  return {
    naive: naive(state.n),
    flash: flash(state.n),
    longest: state.gpus.map(([, gib, able]) => [
      longest(naive, gib * GIB),
      able && state.dtype === "bfloat16" ? longest(flash, gib * GIB) : 0,
    ]),
  };
};

const size = (count) => {
  const [unit, scale] = [["PiB", 2 ** 50], ["TiB", 2 ** 40], ["GiB", GIB], ["MiB", 2 ** 20]].find(([u, s]) => count >= s || u === "MiB");
  return `${fixed(count / scale, 1)} ${unit}`;
};

export const describe = (state, { naive, flash, longest }) => {
  const { n, batch, heads, d_k, dtype, training, gpus } = state;
  const where = (i) => {
    const names = gpus.filter((_, gpu) => longest[gpu][i] >= n).map(([name]) => name);
    return names.length === gpus.length ? "all" : names.join(", ") || "none";
  };
  return (
    `One layer over ${commas(n)} positions, batch ${batch}, ${heads} × ${d_k}, ${dtype}, ` +
    `${training ? "training" : "forward"}: naive attention takes ${size(naive)}, Flash ${size(flash)}. ` +
    `Naive fits on ${where(0)}, Flash on ${where(1)}.` +
    (dtype === "float32" ? " In float32 the Flash kernel does not run." : "")
  );
};

// One logarithmic axis for all bars, from 64 KiB to 256 PiB: wide enough for every state.
const x = (bytes) => 66 + (274 * Math.max(0, Math.log2(bytes / 2 ** 16))) / 42;
const text = (px, py, words, anchor = "middle") => svg("text", { x: px, y: py, "text-anchor": anchor }, words);

const chart = (gpus) => {
  const low = 38 + 20 * gpus.length + 22;
  const ticks = ["MiB", "GiB", "TiB", "PiB"].map((unit, i) => [x(2 ** (20 + 10 * i)), `1 ${unit}`]);
  const marks = gpus.map(([, gib]) =>
    svg("line", { x1: x(gib * GIB), x2: x(gib * GIB), y1: 20, y2: 60, style: "stroke:var(--attn-2)", "stroke-width": 0.7 }),
  );
  const rows = ["naive", "Flash", ...gpus.map(([name]) => name)].map((name, i) => {
    const bar = svg("rect", { x: 66, y: 24 + 20 * i, height: 12, style: `fill:var(--attn-${Math.min(i, 2)})`, "fill-opacity": i > 1 ? 0.5 : 1 });
    return { bar, value: text(0, 34 + 20 * i, "", "start"), name: text(62, 34 + 20 * i, name, "end") };
  });
  const node = svg(
    "svg",
    { viewBox: `0 0 420 ${low + 2}`, "aria-hidden": "true" },
    ...ticks.flatMap(([at, words]) => [
      svg("line", { x1: at, x2: at, y1: 16, y2: low, stroke: "currentColor", "stroke-opacity": 0.3, "stroke-dasharray": "2 3" }),
      text(at, 12, words),
    ]),
    ...marks,
    ...rows.flatMap(({ bar, value, name }) => [bar, value, name]),
  );
  const paint = (values) =>
    values.forEach((bytes, i) => {
      change(rows[i].bar, { width: x(bytes) - 66 });
      change(rows[i].value, { x: x(bytes) + 5 });
      rows[i].value.textContent = size(bytes);
    });
  return { node, paint };
};

const build = (root, ui, { gpus }) => {
  const need = chart(gpus);
  const ends = grid("Longest n that fits (✓: yours too; –: the kernel does not run)");
  ends.node.classList.add("attn-steps");
  const set = (state) => Object.entries(state).forEach(([name, value]) => ui.put(name, value));
  root.append(
    el("div", { class: "attn-buttons" }, ...PRESETS.map(([name, state]) => ui.button(name, () => set(state)))),
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
    el("div", { class: "attn-row" }, need.node, ends.node),
  );
  return ({ n, gpus, dtype }, { naive, flash, longest }) => {
    need.paint([naive, flash, ...gpus.map(([, gib]) => gib * GIB)]);
    ends.paint({
      rows: gpus.map(([name]) => name),
      columns: ["naive", "Flash"],
      values: longest.map((pair) => pair.map((most) => (most < n ? 0 : 0.4))),
      text: (share, i, j) =>
        j && !(gpus[i][2] && dtype === "bfloat16") ? "–" : commas(longest[i][j]) + (share ? " ✓" : ""),
      series: 2,
    });
  };
};

export default {
  render: figure({ traits: ["n", "batch", "heads", "d_k", "dtype", "training", "gpus"], compute, describe, build }),
};
