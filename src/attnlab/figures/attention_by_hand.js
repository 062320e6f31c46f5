import { beside, change, dot, el, figure, fixed, grid, softmax } from "./shared.js";

const WIDTHS = { Q: 3, K: 3, V: 2 };
const NAMES = { scores: "Scores QKᵀ", scaled: "Scaled scores", weights: "Weights", output: "Output" };
const labels = (letter) => ["₁", "₂"].map((digit) => letter + digit);
const column = (matrix, j) => matrix.map((row) => row[j]);

export const compute = ({ Q, K, V, scale, causal }) => {
  const scores = Q.map((q) => K.map((k) => dot(q, k)));
  const scaled = scores.map((row) => row.map((s) => (scale ? s / Math.sqrt(WIDTHS.K) : s)));
  const weights = scaled.map((row, i) =>
    softmax(row.map((s, j) => (causal && j > i ? -Infinity : s))),
  );
  const output = weights.map((row) => V[0].map((_, j) => dot(row, column(V, j))));
  return { scores, scaled, weights, output };
};

// A dot product as a sum of products, negative factors in brackets.
const bracketed = (x, digits) => (x < 0 ? `(${fixed(x, digits)})` : fixed(x, digits));
const products = (a, b, digits = 0) =>
  a.map((x, i) => `${bracketed(x, digits)}·${bracketed(b[i], 0)}`).join(" + ");

const arithmetic = ({ Q, K, V, scale, causal, step, row, column: place }, found) => {
  const [i, j] = [row - 1, place - 1];
  const value = fixed(found[step][i][j], 3);
  const score = fixed(found.scores[i][j], 0);
  const pair = `of query ${row} for key ${place}:`;
  const blocked = (k) => causal && k > i;
  if (step === "scores") return `Score ${pair} ${products(Q[i], K[j])} = ${score}.`;
  if (step === "output")
    return `Output ${row}, component ${place}: ${products(found.weights[i], column(V, j), 3)} = ${value}.`;
  if (step === "weights") {
    const parts = found.scaled[i].map((s, k) => `exp(${blocked(k) ? "−∞" : fixed(s, 3)})`);
    return `Weight ${pair} ${parts[j]} / (${parts.join(" + ")}) = ${value}.`;
  }
  if (blocked(j))
    return `Scaled score ${pair} the key lies in the future, so −∞ takes the place of ${value}.`;
  return `Scaled score ${pair} ${score} / ${scale ? `√${WIDTHS.K}` : "1"} = ${value}.`;
};

export const describe = (state, found) => {
  const rows = found.output.map((row) => `(${row.map((x) => fixed(x, 3)).join(", ")})`);
  return `${arithmetic(state, found)} The output has the rows ${rows.join(" and ")}.`;
};

// A matrix whose numbers can be edited. What is no whole number is put back on leaving the field.
const editor = (name, ui) => {
  let now;
  const field = (i, j) =>
    el("input", {
      ...{ type: "number", min: -9, max: 9, required: true, style: "text-align:center" },
      "aria-label": `${name}, row ${i + 1}, column ${j + 1}`,
      oninput: ({ target }) => {
        const edited = now.map((row) => [...row]);
        edited[i][j] = target.valueAsNumber;
        if (target.validity.valid) ui.put(name, edited);
      },
      onblur: () => paint(now),
    });
  const fields = [0, 1].map((i) => Array.from({ length: WIDTHS[name] }, (_, j) => field(i, j)));
  const rows = labels(name.toLowerCase()).map((label, i) =>
    el("tr", {}, el("th", { scope: "row" }, label), ...fields[i].map((input) => el("td", {}, input))),
  );
  const paint = (matrix) => {
    now = matrix;
    fields.flat().forEach((input, k) => {
      const x = matrix.flat()[k];
      if (input.valueAsNumber !== x) input.value = x;
    });
  };
  return { node: el("table", { class: "attn-grid" }, el("caption", {}, name), el("tbody", {}, ...rows)), paint };
};

const build = (root, ui) => {
  const editors = Object.keys(WIDTHS).map((name) => editor(name, ui));
  const steps = Object.entries(NAMES).map(([step, caption]) => {
    const point = ({ target }) => {
      const cell = target.closest("button")?.parentNode;
      if (!cell) return;
      ui.put("step", step);
      ui.put("row", cell.parentNode.rowIndex);
      ui.put("column", cell.cellIndex);
    };
    const panel = grid(caption, () => {});
    change(panel.node, { onpointerover: point, onfocusin: point });
    return panel;
  });
  const style = "display:grid;gap:0.5rem;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr))";
  const across = (panels) => el("div", { style }, ...panels.map(({ node }) => node));
  root.append(
    across(editors),
    beside(
      ui.toggle("scale", { label: "Divide the scores by √d_k" }),
      ui.toggle("causal", { label: "Causal mask" }),
    ),
    across(steps),
  );
  return (state, found) => {
    Object.keys(WIDTHS).forEach((name, k) => editors[k].paint(state[name]));
    Object.keys(NAMES).forEach((step, k) => {
      const values = found[step];
      const last = step === "output";
      const blocked = (i, j) => state.causal && j > i && k % 3 > 0; // scaled scores and weights
      const digits = (x) => (k ? (Math.abs(x) < 10 ? 2 : 1) : 0);
      steps[k].paint({
        rows: labels(last ? "o" : "q"),
        columns: last ? ["1", "2"] : labels("k"),
        values,
        text: (x, i, j) => (step === "scaled" && blocked(i, j) ? "−∞" : fixed(x, digits(x))),
        pressed: (i, j) => step === state.step && i === state.row - 1 && j === state.column - 1,
        blocked,
        largest: Math.max(1, ...values.flat().map(Math.abs)),
        series: last ? 2 : 0,
      });
    });
  };
};

export default {
  render: figure({
    traits: ["Q", "K", "V", "scale", "causal", "step", "row", "column"],
    ...{ compute, describe, build },
  }),
};
