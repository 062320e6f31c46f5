import { change, el, figure, fixed, grid, softmax, sum } from "./shared.js";

const WINDOW = 3;
const PADDING = 2;
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
const [INFINITE, ZERO, DIVIDED] = Object.keys(EMPTY);

export const compute = ({ size, preset, flipped, filling, odds }) => {
  const mask = Array.from({ length: size }, (_, i) =>
    Array.from({ length: size }, (_, j) => PRESETS[preset](i, j)),
  );
  for (const [i, j] of flipped) if (Math.max(i, j) < size) mask[i][j] = !mask[i][j];
  const weights = mask.map((allowed, i) => {
    const blocked = { [INFINITE]: -Infinity, [ZERO]: 0 }[filling];
    const scores = allowed.map((may, j) => (may ? Math.log(odds[i][j]) : (blocked ?? Math.log(odds[i][j]))));
    const row = softmax(scores);
    if (filling !== DIVIDED) return row;
    const kept = row.map((w, j) => (allowed[j] ? w : 0));
    return kept.map((w) => w / (sum(kept) || 1));
  });
  const future = weights.map((row, i) => sum(row.slice(i + 1)));
  return {
    mask,
    weights,
    future: sum(future),
    leaking: future.filter((w) => w > 0).length,
    empty: [...mask.keys()].filter((i) => !mask[i].includes(true)),
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
  let now; // state and result as they are drawn
  let stroke = null; // from pointerdown to pointerup: what it paints, where it began
  const paint = (i, j, value) => {
    const { mask, flipped } = now;
    if (mask[i]?.[j] === undefined || mask[i][j] === value) return;
    mask[i][j] = value;
    const others = now.flipped.filter(([r, c]) => r !== i || c !== j);
    now.flipped = others.length < flipped.length ? others : [...flipped, [i, j]];
    ui.put("flipped", now.flipped);
  };
  const board = grid("Mask: press or drag", (i, j) => stroke?.moved || paint(i, j, !now.mask[i][j]));
  const weights = grid("Weights in %");
  const place = (node) => {
    const cell = board.node.contains(node) && node.closest("button")?.parentNode;
    return cell ? [cell.parentNode.rowIndex - 1, cell.cellIndex - 1] : null;
  };
  change(board.node, {
    style: "touch-action:pan-y;user-select:none",
    onpointerdown: ({ target }) => {
      const at = place(target);
      stroke = at && { at, value: !now.mask[at[0]][at[1]], moved: false };
    },
    onpointermove: ({ buttons, clientX, clientY }) => {
      const at = stroke && buttons && place(document.elementFromPoint(clientX, clientY));
      if (!at || (!stroke.moved && String(at) === String(stroke.at))) return;
      stroke.moved = true;
      for (const [i, j] of [stroke.at, at]) paint(i, j, stroke.value);
    },
    // The click that ends a stroke comes first.
    onpointerup: () => setTimeout(() => (stroke = null)),
    onpointercancel: () => (stroke = null),
  });
  const options = (names) => names.map((name) => [name, name]);
  const preset = ui.choice("preset", { label: "Mask", options: options(Object.keys(PRESETS)) });
  change(preset.querySelector("select"), { onchange: () => ui.put("flipped", []) });
  root.append(
    el(
      "div",
      { class: "attn-row" },
      preset,
      ui.choice("filling", { label: "Filling", options: options(Object.keys(EMPTY)) }),
      ui.range("size", { label: "Positions", min: 6, max: 10 }),
    ),
    el("div", { class: "attn-row", style: "align-items:start" }, board.node, weights.node),
  );
  // A ring marks what is allowed of the future, and what leaks of it.
  const ring = (node, size, leaks) =>
    node.querySelectorAll("td > *").forEach((cell, k) => {
      const [i, j] = [Math.floor(k / size), k % size];
      cell.style.border = "1px solid var(--attn-line)";
      cell.style.boxShadow = j > i && leaks[i][j] ? "inset 0 0 0 2px var(--attn-1)" : "";
    });
  return (state, result) => {
    const { mask, weights: values, empty } = result;
    now = { mask: mask.map((row) => [...row]), flipped: state.flipped };
    const labels = mask.map((_, i) => String(i));
    const blocked = (i, j) => !mask[i][j];
    const shut = (i, j) => blocked(i, j) && !values[i][j];
    board.paint({ rows: labels, columns: labels, values: mask, pressed: (i, j) => mask[i][j], blocked });
    const nan = (i) => state.filling === DIVIDED && empty.includes(i);
    weights.paint({
      rows: labels,
      columns: labels,
      values,
      text: (value, i, j) => (nan(i) ? "NaN" : shut(i, j) ? "" : fixed(100 * value, 0)),
      blocked: shut,
    });
    ring(board.node, state.size, mask);
    ring(weights.node, state.size, values);
  };
};

export default {
  render: figure({ traits: ["size", "preset", "flipped", "filling", "odds"], compute, describe, build }),
};
