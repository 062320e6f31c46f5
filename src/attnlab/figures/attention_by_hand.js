import { change, dot, el, figure, fixed, grid, softmax } from "./shared.js";

const WIDTHS = { Q: 3, K: 3, V: 2 };
const NAMES = { scores: "Scores QKᵀ", scaled: "Scaled scores", weights: "Weights", output: "Output" };
const label = (letter) => ["₁", "₂"].map((digit) => letter + digit);

export const compute = ({ Q, K, V, scale, causal }) => {
  const scores = Q.map((q) => K.map((k) => dot(q, k)));
  const scaled = scores.map((row) => row.map((s) => (scale ? s / Math.sqrt(WIDTHS.K) : s)));
  const weights = scaled.map((row, i) =>
    softmax(row.map((s, j) => (causal && j > i ? -Infinity : s))),
  );
  const output = weights.map((row) => V[0].map((_, j) => dot(row, V.map((v) => v[j]))));
  return { scores, scaled, weights, output };
};

// A dot product as a sum of products, negative factors in brackets.
const bracketed = (x, digits) => (x < 0 ? `(${fixed(x, digits)})` : fixed(x, digits));
const products = (a, b, digits = 0) =>
  a.map((x, i) => `${bracketed(x, digits)}·${bracketed(b[i], 0)}`).join(" + ");

const arithmetic = ({ Q, K, V, scale, causal, step, row, column }, found) => {
  const [i, j] = [row - 1, column - 1];
  const value = fixed(found[step][i][j], 3);
  const score = fixed(found.scores[i][j], 0);
  if (step === "scores")
    return `Score of query ${row} for key ${column}: ${products(Q[i], K[j])} = ${score}.`;
  if (step === "output")
    return `Output ${row}, component ${column}: ${products(found.weights[i], V.map((v) => v[j]), 3)} = ${value}.`;
  const blocked = (k) => causal && k > i;
  if (step === "weights") {
    const parts = found.scaled[i].map((s, k) => `exp(${blocked(k) ? "−∞" : fixed(s, 3)})`);
    return `Weight of query ${row} on key ${column}: ${parts[j]} / (${parts.join(" + ")}) = ${value}.`;
  }
  const said = `Scaled score of query ${row} for key ${column}`;
  if (blocked(j)) return `${said}: the key lies in the future, so −∞ takes the place of ${value}.`;
  return `${said}: ${score} / ${scale ? `√${WIDTHS.K}` : "1"} = ${value}.`;
};

export const describe = (state, found) => {
  const rows = found.output.map((row) => `(${row.map((x) => fixed(x, 3)).join(", ")})`);
  return `${arithmetic(state, found)} The output has the rows ${rows.join(" and ")}.`;
};

// A matrix whose numbers can be edited. What is no whole number is put back on leaving the field.
const editor = (name, ui) => {
  let now;
  const places = Array.from({ length: WIDTHS[name] }, (_, j) => j);
  const inputs = [0, 1].map((i) =>
    places.map((j) =>
      el("input", {
        type: "number",
        "aria-label": `${name}, row ${i + 1}, column ${j + 1}`,
        ...{ min: -9, max: 9, step: 1, required: true, style: "text-align:center" },
        oninput: ({ target }) => {
          if (!target.validity.valid) return;
          ui.put(name, now.map((row, r) => row.map((x, c) => (r === i && c === j ? Number(target.value) : x))));
        },
        onblur: ({ target }) => {
          target.value = now[i][j];
        },
      }),
    ),
  );
  const rows = label(name.toLowerCase()).map((head, i) =>
    el("tr", {}, el("th", { scope: "row" }, head), ...inputs[i].map((input) => el("td", {}, input))),
  );
  const node = el("table", { class: "attn-grid" }, el("caption", {}, name), el("tbody", {}, ...rows));
  const paint = (matrix) => {
    now = matrix;
    matrix.forEach((row, i) =>
      row.forEach((x, j) => {
        const input = inputs[i][j];
        if (input.value === "" || Number(input.value) !== x) input.value = x;
      }),
    );
  };
  return { node, paint };
};

const build = (root, ui) => {
  const look = (step, row, column) => {
    for (const [name, value] of Object.entries({ step, row, column })) ui.put(name, value);
  };
  const editors = Object.keys(WIDTHS).map((name) => [name, editor(name, ui)]);
  const steps = Object.entries(NAMES).map(([step, caption]) => {
    const panel = grid(caption, (i, j) => look(step, i + 1, j + 1));
    const point = ({ target }) => {
      const cell = target.closest("button")?.parentNode;
      if (cell) look(step, cell.parentNode.rowIndex, cell.cellIndex);
    };
    change(panel.node, { onpointerover: point, onfocusin: point });
    return [step, panel];
  });
  const narrow = (panels, width) =>
    el(
      "div",
      { class: "attn-row", style: "column-gap:0.5rem" },
      ...panels.map(([, { node }]) => change(node, { style: `flex-basis:${width}` })),
    );
  root.append(
    narrow(editors, "6rem"),
    el(
      "div",
      { class: "attn-row" },
      ui.toggle("scale", { label: "Divide the scores by √d_k" }),
      ui.toggle("causal", { label: "Causal mask" }),
    ),
    narrow(steps, "8rem"),
  );
  return (state, found) => {
    for (const [name, { paint }] of editors) paint(state[name]);
    for (const [step, { paint }] of steps) {
      const off = (i, j) => state.causal && j > i && (step === "scaled" || step === "weights");
      const values = found[step];
      paint({
        rows: label(step === "output" ? "o" : "q"),
        columns: step === "output" ? ["1", "2"] : label("k"),
        values,
        text: (x, i, j) =>
          step === "scaled" && off(i, j) ? "−∞" : fixed(x, step === "scores" ? 0 : Math.abs(x) < 10 ? 2 : 1),
        pressed: (i, j) => step === state.step && i === state.row - 1 && j === state.column - 1,
        blocked: off,
        largest: Math.max(1, ...values.flat().map(Math.abs)),
        series: step === "output" ? 2 : 0,
      });
    }
  };
};

export default {
  render: figure({
    traits: ["Q", "K", "V", "scale", "causal", "step", "row", "column"],
    compute,
    describe,
    build,
  }),
};
