import { bars, calm, dot, el, figure, fixed, grid, sum } from "./shared.js";

const [N, BLOCK_K] = [8, 2];
// Two numbers of 4 bytes a row each. The arrows stand here and not in the cells: in some fonts they
// are higher than figures, and the rows would grow.
const COLUMNS = ["Q →", "K →", "V →", "O ←", "m, ℓ ←"];
const NOTHING = "\u00a0"; // as high as a number
const places = (start, stop) => Array.from({ length: stop - start }, (_, i) => start + i);
const ALL = places(0, N);

const tiles = (block, causal) => {
  const found = [];
  for (let q = 0; q < N; q += block) {
    const end = causal ? q + block : N; // the last key that this block sees
    for (let k = 0; k < end; k += BLOCK_K)
      found.push({ q: [q, q + block], k: [k, Math.min(k + BLOCK_K, end)], last: k + BLOCK_K >= end });
  }
  return found;
};

const crossing = ({ q, k, last }, i) => {
  const [asks, answers] = [q, k].map(([start, stop]) => start <= i && i < stop);
  return [asks && !k[0], answers, answers, asks && last, asks && last].map(Number);
};

// What is known of query i after the keys before `stop`, and of the tile's own keys.
const row = (i, { k }, { causal, Q, K, V }) => {
  const score = (j) => dot(Q[i], K[j]) / Math.sqrt(Q[i].length);
  const seen = (stop) => places(0, causal ? Math.min(stop, i + 1) : stop);
  const top = (stop) => Math.max(...seen(stop).map(score));
  const m = top(k[1]);
  const P = seen(k[1]).map((j) => Math.exp(score(j) - m));
  const l = sum(P);
  const O = V[0].map((_, c) => sum(P.map((p, j) => p * V[j][c])));
  return {
    scores: places(...k).map((j) => (causal && j > i ? null : score(j))),
    fade: Math.exp(top(k[0]) - m),
    m,
    l,
    O,
    output: O.map((x) => x / l),
  };
};

export const compute = (state) => {
  const all = tiles(state.block_q, state.causal);
  const done = Math.min(state.step, all.length);
  const tile = all[done - 1] ?? { q: [0, 0], k: [0, 0], last: false };
  const count = (some) =>
    ALL.map((i) => COLUMNS.map((_, c) => sum(some.map((other) => crossing(other, i)[c]))));
  const bytes = (some) => 8 * sum(count(some).flat());
  return {
    done,
    total: all.length,
    ...tile,
    rows: places(...tile.q).map((i) => row(i, tile, state)),
    now: count(done ? [tile] : []),
    times: count(all.slice(0, done)),
    moved: bytes(all.slice(0, done)),
    flash: bytes(all),
    naive: 4 * (4 * N * N + 6 * N * 2),
  };
};

export const describe = (_, { done, total, q, k, last, rows, moved, flash, naive }) => {
  const crossed = `${moved} bytes have crossed, of ${flash} in all; naive attention without a mask moves ${naive}.`;
  if (!done) return `No tile of ${total} is done: ${crossed}`;
  const named = (one, many, [start, stop]) =>
    stop - start === 1 ? `${one} ${stop}` : `${many} ${start + 1} to ${stop}`;
  const faded = rows.flatMap(({ fade }, i) =>
    fade < 1 ? `by ${fixed(fade, 2)} for query ${q[0] + i + 1}` : [],
  );
  const sums = !k[0]
    ? "The sums start afresh."
    : faded.length
      ? `The maximum rises, and the sums so far are multiplied ${faded.join(", ")}.`
      : "No maximum rises: the sums so far stay.";
  return (
    `Tile ${done} of ${total}: ${named("query", "queries", q)} and ${named("key", "keys", k)}. ${sums} ` +
    `${last ? "The output is divided by ℓ and leaves the chip. " : ""}${crossed}`
  );
};

const texts = new Map();
const longest = (state) => {
  const { block_q, causal, Q, K, V } = state;
  const key = JSON.stringify([block_q, causal, Q, K, V]);
  if (!texts.has(key)) {
    const steps = places(0, tiles(block_q, causal).length + 1).map((step) => ({ ...state, step }));
    const all = steps.map((at) => describe(at, compute(at)));
    texts.set(key, all.reduce((a, b) => (b.length > a.length ? b : a)));
  }
  return texts.get(key);
};

const build = (root, ui) => {
  let now;
  let timer = 0;
  const go = (step) => ui.put("step", Math.max(0, Math.min(step, now.total)));
  const halt = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  };
  const play = ui.button("Play", () => {
    if (timer) return halt();
    play.textContent = "Pause";
    go(now.done === now.total ? 0 : now.done + 1);
    timer = setInterval(() => (root.isConnected && now.done < now.total ? go(now.done + 1) : halt()), 900);
  });
  const press = (text, target) =>
    ui.button(text, () => {
      halt();
      go(target());
    });
  const slow = grid("HBM: times read (→) or written (←)");
  const scores = grid("Tiles of scores: queries down, keys across");
  const chip = grid("SRAM: what the chip holds");
  const cost = bars("Bytes moved", 1);
  root.append(
    el(
      "div",
      { class: "attn-row" },
      ui.choice("block_q", { label: "Queries in a block", options: [1, 2, 4].map((b) => [b, String(b)]) }),
      ui.toggle("causal", { label: "Causal mask" }),
    ),
    el(
      "div",
      { class: "attn-buttons" },
      press("First", () => 0),
      press("Back", () => now.done - 1),
      press("Next", () => now.done + 1),
      press("Last", () => now.total),
      ...(calm() ? [] : [play]),
    ),
    el("div", { class: "attn-row" }, slow.node, scores.node),
    el("div", { class: "attn-row" }, chip.node, cost.node),
  );
  return ({ block_q, causal }, result) => {
    now = result;
    const names = ALL.map((i) => String(i + 1));
    const { q, k, done, rows } = result;
    slow.paint({
      rows: names,
      columns: COLUMNS,
      values: result.times.map((times, i) => times.map((t, c) => (result.now[i][c] ? 1 : t && 0.3))),
      text: (value, i, c) => String(result.times[i][c] || NOTHING),
    });
    const before = tiles(block_q, causal).slice(0, done);
    const at = (i, j, tile) => tile.q[0] <= i && i < tile.q[1] && tile.k[0] <= j && j < tile.k[1];
    scores.paint({
      rows: names,
      columns: names,
      values: ALL.map((i) => ALL.map((j) => (at(i, j, { q, k }) ? 1 : before.some((t) => at(i, j, t)) ? 0.3 : 0))),
      text: (value, i, j) => {
        const score = value === 1 ? rows[i - q[0]].scores[j - k[0]] : null;
        return score === null ? NOTHING : fixed(score, 1);
      },
      blocked: (i, j) => causal && j > i,
    });
    const parts = ["m", "fade", "ℓ", "Õ₁", "Õ₂", "Õ₁/ℓ", "Õ₂/ℓ"];
    const kept = rows.map(({ fade, m, l, O, output }) => [m, fade, l, ...O, ...output]);
    const held = done ? kept : places(0, block_q).map(() => parts.map(() => null)); // keep its place
    chip.paint({
      rows: parts,
      columns: held.map((_, i) => `query ${names[q[0] + i]}`),
      values: parts.map((_, part) => held.map((values) => values[part])),
      largest: Infinity,
      text: (value) => (value === null ? NOTHING : fixed(value, 2)),
    });
    const { moved, flash, naive } = result;
    cost.paint(["so far", "in all", "naive"], [moved, flash, naive], { largest: naive, text: String });
  };
};

export default {
  render: figure({ traits: ["step", "block_q", "causal", "Q", "K", "V"], compute, describe, build, longest }),
};
