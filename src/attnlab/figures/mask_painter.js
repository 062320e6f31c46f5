import { change, el, figure, fixed, grid, softmax, sum } from "./shared.js";

const WINDOW = 3;
const PADS = ["pad 1", "pad 2"];
const PADDING = PADS.length;
const PRESETS = {
  full: () => true,
  causal: (i, j) => j <= i,
  "padding in front": (i, j) => j >= PADDING,
  "causal and padding": (i, j) => j <= i && j >= PADDING,
  "sliding window": (i, j) => j <= i && j > i - WINDOW,
  "off by one": (i, j) => j <= i + 1,
  inverted: (i, j) => j > i,
};
const EMPTY = {
  "score −∞": "zeros here, NaN from a plain softmax",
  "score 0": "uniform weights, invented",
  "weight 0, rows divided": "0/0, NaN",
};
const [, ZERO, DIVIDED] = Object.keys(EMPTY);

export const compute = ({ size, preset, flipped, filling, words, scores: known }) => {
  const pads = preset.includes("padding") ? PADS : [];
  const front = pads.length;
  const tokens = [...pads, ...words].slice(0, size);
  const mask = tokens.map((_, i) => tokens.map((_, j) => PRESETS[preset](i, j)));
  for (const [i, j] of flipped) if (Math.max(i, j) < size) mask[i][j] = !mask[i][j];
  const weights = mask.map((allowed, i) => {
    const scores = tokens.map((_, j) => known[i - front]?.[j - front] ?? 0);
    const filled = (value) => softmax(scores.map((s, j) => (allowed[j] ? s : value)));
    if (filling !== DIVIDED) return filled(filling === ZERO ? 0 : -Infinity);
    const kept = softmax(scores).map((w, j) => (allowed[j] ? w : 0));
    return kept.map((w) => w / (sum(kept) || 1));
  });
  const future = weights.map((row, i) => sum(row.slice(i + 1)));
  return {
    tokens,
    mask,
    weights,
    future: sum(future),
    leaking: future.filter((w) => w > 0).length,
    empty: tokens.filter((_, i) => !mask[i].includes(true)),
  };
};

export const describe = ({ size, preset, flipped, filling }, { mask, future, leaking, empty }) => {
  const changed = flipped.filter((cell) => Math.max(...cell) < size).length;
  const allowed = mask.flat().filter(Boolean).length;
  return (
    `Mask: ${preset}${changed ? `, cells changed: ${changed}` : ""}. ` +
    `${allowed} of ${size ** 2} pairs of positions are allowed, the others blocked by ${filling}. ` +
    (leaking
      ? `The future leaks into ${leaking} of ${size} rows: weights of ${fixed(future, 3)} in all.`
      : "No weight lies on the future.") +
    (empty.length ? ` Rows that may read nothing: ${empty.join(", ")} (${EMPTY[filling]}).` : "")
  );
};

const build = (root, ui) => {
  let now; // mask and flipped cells as they are
  let stroke = null; // where the pointer went down, what it paints, whether it moved on
  const paint = (i, j, value) => {
    const { mask, flipped } = now;
    if (mask[i][j] === value) return;
    mask[i][j] = value;
    const others = flipped.filter((cell) => String(cell) !== `${i},${j}`);
    now.flipped = others.length < flipped.length ? others : [...flipped, [i, j]];
    ui.put("flipped", now.flipped);
  };
  const board = grid("Mask: press or drag", (i, j) => stroke?.moved || paint(i, j, !now.mask[i][j]));
  const weights = grid("Weights in %");
  for (const { node } of [board, weights]) node.classList.add("attn-tall");
  const place = ({ target }) => {
    const cell = target.closest("button")?.parentNode;
    return cell && [cell.parentNode.rowIndex - 1, cell.cellIndex - 1];
  };
  change(board.node, {
    style: "touch-action:pan-y;user-select:none",
    onpointerdown: (event) => {
      event.target.releasePointerCapture(event.pointerId); // lets a finger enter other cells
      const from = place(event);
      stroke = from && { from, value: !now.mask[from[0]][from[1]] };
    },
    onpointerover: (event) => {
      const to = place(event);
      if (!stroke || !event.buttons || !to) return;
      stroke.moved = true;
      for (const [i, j] of [stroke.from, to]) paint(i, j, stroke.value);
    },
    onkeydown: () => (stroke = null),
  });
  const list = (name, label, of) =>
    ui.choice(name, { label, options: Object.keys(of).map((key) => [key, key]) });
  const preset = list("preset", "Mask", PRESETS);
  change(preset.querySelector("select"), { onchange: () => ui.put("flipped", []) });
  root.append(
    el(
      "div",
      { class: "attn-row" },
      preset,
      list("filling", "Filling", EMPTY),
      ui.range("size", { label: "Positions", min: 5, max: 8 }),
    ),
    el("div", { class: "attn-row", style: "align-items:start" }, board.node, weights.node),
  );
  // A ring marks what is allowed of the future, and what leaks of it.
  const ring = ({ node }, leaks) =>
    node.querySelectorAll("td > *").forEach((cell, k) => {
      const ahead = k % leaks.length > Math.floor(k / leaks.length);
      cell.style.border = "1px solid var(--attn-line)";
      cell.style.boxShadow = ahead && leaks.flat()[k] ? "inset 0 0 0 2px var(--attn-1)" : "";
    });
  return (state, result) => {
    const { tokens, mask, weights: values, empty } = result;
    now = { mask: mask.map((row) => [...row]), flipped: state.flipped };
    const blocked = (i, j) => !mask[i][j];
    const shut = (i, j) => blocked(i, j) && !values[i][j];
    board.paint({ rows: tokens, columns: tokens, values: mask, pressed: (i, j) => mask[i][j], blocked });
    weights.paint({
      rows: tokens,
      columns: tokens,
      values,
      text: (value, i, j) => (state.filling === DIVIDED && empty.includes(tokens[i]) ? "NaN" : shut(i, j) ? "" : fixed(100 * value, 0)),
      blocked: shut,
    });
    ring(board, mask);
    ring(weights, values);
  };
};

export default {
  render: figure({ traits: ["size", "preset", "flipped", "filling", "words", "scores"], compute, describe, build }),
};
