import { bars, beside, dot, figure, softmax, svg, tint } from "./shared.js";

const HEADS = [1, 2, 3, 4, 6, 12];

export const compute = ({ d_model: d, h, S, bias, Q, K }) => {
  const d_k = d / h;
  const slice = (X, head) => X.slice(0, S).map((row) => row.slice(head * d_k, (head + 1) * d_k));
  const attend = (head) => {
    const keys = slice(K, head);
    return slice(Q, head).map((q) => softmax(keys.map((k) => dot(q, k) / Math.sqrt(d_k))));
  };
  const biases = bias ? 4 * d : 0;
  return {
    d_k,
    weights: Array.from({ length: h }, (_, i) => attend(i)),
    one_head: 3 * d * d_k,
    W_o: d * d,
    biases,
    total: h * 3 * d * d_k + d * d + biases,
  };
};

export const describe = ({ d_model: d, h, S, bias }, { d_k, total }) =>
  `A tensor of ${S} × ${d} is split into ${h === 1 ? "1 head" : `${h} heads`} of ${S} × ${d_k}. Attention makes ` +
  `${h} × ${S} × ${S} = ${h * S * S} weights. The outputs stand side by side as ${S} × ${d} ` +
  `again, and Wᴼ mixes them. Learned are 4 × ${d}²${bias ? ` + 4 × ${d}` : ""} = ${total} numbers, ` +
  "whatever the number of heads.";

const [WIDE, HEIGHT, MAP] = [330, 40, 64]; // a tensor's size, and that of a map
// A tensor of so many rows and columns, cut by thin lines.
const tensor = (x, y, width, height, rows, columns, fill) => {
  const along = Array.from({ length: columns - 1 }, (_, j) => `M${x + ((j + 1) * width) / columns},${y}v${height}`);
  const down = Array.from({ length: rows - 1 }, (_, i) => `M${x},${y + ((i + 1) * height) / rows}h${width}`);
  return [
    svg("rect", { x, y, width, height, style: `fill:${fill}`, stroke: "currentColor" }),
    svg("path", { d: [...along, ...down].join(""), stroke: "currentColor", "stroke-opacity": 0.25 }),
  ];
};

const build = (root, ui) => {
  const picture = svg("svg", { viewBox: "0 0 340 396", "aria-hidden": "true" });
  const learned = bars("Learned numbers");
  root.append(
    beside(
      ui.range("h", { label: "Heads h", values: HEADS }),
      ui.range("S", { label: "Length S", min: 2, max: 6 }),
      ui.choice("d_model", { label: "Width d_model", options: [12, 24, 48].map((d) => [d, String(d)]) }),
      ui.toggle("bias", { label: "Biases" }),
    ),
    beside(picture, learned.node),
  );
  return ({ d_model: d, h, S }, { d_k, weights, one_head, W_o, biases, total }) => {
    const slot = WIDE / h;
    const gap = Math.min(10, slot / 4);
    const hue = (i) => tint(0.8, i % 4);
    const label = (y, words) => svg("text", { x: 5, y: y - 5 }, words);
    const each = (draw) => weights.flatMap((_, i) => draw(i, 5 + i * slot));
    const number = (i, x, y) => svg("text", { x: x + slot / 2, y, "text-anchor": "middle" }, i + 1);
    const whole = (y) => each((i, x) => [...tensor(x, y, slot, HEIGHT, S, d_k, hue(i)), number(i, x, y + HEIGHT / 2 + 4)]);
    const cut = (y) =>
      each((i, x) => [...tensor(x + gap / 2, y, slot - gap, HEIGHT, S, d_k, hue(i)), number(i, x, y + HEIGHT / 2 + 4)]);
    const side = Math.min(MAP, slot - gap);
    const map = (i, x, y) => {
      const [left, size] = [x + (slot - side) / 2, side / S];
      const cell = (w, a, b) =>
        svg("path", {
          d: `M${left + b * size},${y + a * size}h${size}v${size}h${-size}z`,
          "fill-opacity": w,
        });
      const cells = weights[i].flatMap((row, a) => row.map((w, b) => cell(w, a, b)));
      return [
        svg("g", { style: `fill:var(--attn-${i % 4})` }, ...cells),
        ...tensor(left, y, side, side, S, S, "none"),
      ];
    };
    const stages = [
      [`projected, for Q, K and V: ${S} × ${d}`, HEIGHT, whole],
      [`split: ${h} × ${S} × ${d_k}`, HEIGHT, cut],
      [`weights of each head: ${h} × ${S} × ${S}`, MAP, (y) => each((i, x) => map(i, x, y + (MAP - side) / 2))],
      [`weights times V: ${h} × ${S} × ${d_k}`, HEIGHT, cut],
      [`concatenated: ${S} × ${d}`, HEIGHT, whole],
      [`times Wᴼ, which mixes them: ${S} × ${d}`, HEIGHT, (y) => tensor(5, y, WIDE, HEIGHT, S, d, "none")],
    ];
    let y = 18;
    const drawn = stages.flatMap(([words, tall, draw]) => {
      const nodes = [label(y, words), ...draw(y)];
      y += tall + 22;
      return nodes;
    });
    picture.replaceChildren(...drawn);
    learned.paint(
      ["a head", "all heads", "Wᴼ", "biases", "in all"],
      [one_head, h * one_head, W_o, biases, total],
      { largest: total, text: String },
    );
  };
};

export default {
  render: figure({ traits: ["d_model", "h", "S", "bias", "Q", "K"], compute, describe, build }),
};
