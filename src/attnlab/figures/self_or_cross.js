import { change, el, figure, fixed, grid, softmax, svg } from "./shared.js";

const SEQUENCES = ["source", "target"];
const D_K = 8;
const D_V = 6;

// What belongs to the tokens of a sequence that take part.
const first = (state, rows, name) => rows[SEQUENCES.indexOf(name)].slice(0, state[name]);

export const compute = (state) => {
  const { q_from, k_from, v_from, causal, scores } = state;
  const [S_q, S_k, S_v] = [state[q_from], state[k_from], state[v_from]];
  const [i, j] = [q_from, k_from].map((name) => SEQUENCES.indexOf(name));
  const kind =
    k_from !== v_from ? "no attention" : q_from === k_from ? "self-attention" : "cross-attention";
  const masked = causal && kind === "self-attention";
  const filled = (row, t) => row.slice(0, S_k).map((x, s) => (masked && s > t ? -Infinity : x));
  const weights = scores[i][j].slice(0, S_q).map((row, t) => softmax(filled(row, t)));
  const shapes = { Q: [S_q, D_K], K: [S_k, D_K], V: [S_v, D_V], weights: [S_q, S_k] };
  return { kind, masked, weights, shapes: { ...shapes, output: S_k === S_v ? [S_q, D_V] : [] } };
};

export const describe = ({ q_from, k_from, v_from, ...lengths }, { kind, masked, shapes }) => {
  const [S_q, S_k] = shapes.weights;
  const S_v = shapes.V[0];
  const asked =
    k_from === v_from
      ? `keys and values from the ${k_from}`
      : `keys from the ${k_from}, values from the ${v_from}`;
  const said = `Queries from the ${q_from}, ${asked}: ${kind}. The weights are ${S_q} × ${S_k}`;
  if (S_k !== S_v)
    return `${said}, but ${S_k} keys and ${S_v} values do not pair up: there is no output.`;
  const idle = SEQUENCES.find((name) => name !== q_from);
  const unread = ` The ${lengths[idle]} tokens of the ${idle} are not read.`;
  const fits = `${said}, the output is ${S_q} × d_v.${kind === "self-attention" ? unread : ""}`;
  if (kind === "no attention")
    return (
      `${fits} That works by accident, since both have ${S_k} tokens: what is found ` +
      `in the ${k_from} fetches what stands in the same place of the ${v_from}.`
    );
  if (masked) return `${fits} Under the causal mask no position reads a later one.`;
  return `${fits} Each row of the ${q_from} is now a mean over the ${k_from}.`;
};

// A matrix as a rectangle, one unit for each row and column, its name above, shape and origin below.
const UNIT = 8;
const shapeOf = (x) => {
  const box = svg("rect", { "fill-opacity": 0.45, "stroke-width": 1.5 });
  const texts = [12, 102, 117].map((y) => svg("text", { x, y, "text-anchor": "middle" }));
  const paint = ([rows = 0, columns = 0], words, hue) => {
    const [width, height] = [UNIT * columns, UNIT * rows];
    const style = `fill:var(--attn-${hue});stroke:var(--attn-${hue})`;
    change(box, { x: x - width / 2, y: 54 - height / 2, width, height, style });
    texts.forEach((node, i) => (node.textContent = words[i]));
  };
  return { parts: [box, ...texts], paint };
};

const build = (root, ui) => {
  const options = SEQUENCES.map((name) => [name, name]);
  const from = (name, what) => ui.choice(name, { label: `${what} from`, options });
  const length = (name, what, max) => ui.range(name, { label: `${what} length`, min: 2, max });
  const causal = ui.toggle("causal", { label: "Causal mask (self only)" });
  const kindly = el("p", { "aria-hidden": "true", style: "text-align:center;font-weight:600" });
  const boxes = [32, 104, 180, 252, 328].map(shapeOf);
  const signs = Object.entries({ 68: "·", 142: "→", 216: "·", 290: "=" }).map(([x, sign]) =>
    svg("text", { x, y: 58, "text-anchor": "middle" }, sign),
  );
  const weights = grid("Weights: queries down, keys across");
  weights.node.classList.add("attn-tall");
  root.append(
    el("div", { class: "attn-row" }, from("q_from", "Queries"), from("k_from", "Keys"), from("v_from", "Values")),
    el("div", { class: "attn-row" }, length("source", "Source", 7), length("target", "Target", 8), causal),
    kindly,
    svg("svg", { viewBox: "-2 0 368 122", "aria-hidden": "true" }, ...boxes.flatMap((b) => b.parts), ...signs),
    weights.node,
  );
  return (state, { kind, masked, weights: values, shapes }) => {
    const { q_from, k_from, v_from, words } = state;
    causal.querySelector("input").disabled = kind !== "self-attention";
    kindly.textContent = kind;
    const { Q, K, V, output } = shapes;
    [
      [Q, "Q", `${Q[0]} × d_k`, q_from],
      [[K[1], K[0]], "Kᵀ", `d_k × ${K[0]}`, k_from],
      [shapes.weights, "weights", shapes.weights.join(" × ")],
      [V, "V", `${V[0]} × d_v`, v_from],
      [output, "output", output.length ? `${output[0]} × d_v` : "none"],
    ].forEach(([size, name, shape, origin = ""], i) =>
      boxes[i].paint(size, [name, shape, origin], SEQUENCES.indexOf(origin || q_from)),
    );
    weights.paint({
      rows: first(state, words, q_from),
      columns: first(state, words, k_from),
      values,
      text: (value, i, j) => (masked && j > i ? "" : fixed(value, 2)),
      blocked: (i, j) => masked && j > i,
    });
  };
};

export default {
  render: figure({
    traits: ["q_from", "k_from", "v_from", "source", "target", "causal", "words", "scores"],
    compute,
    describe,
    build,
  }),
};
