import { bars, beside, change, entropy, figure, fixed, number, softmax, svg } from "./shared.js";

const WIDTHS = Array.from({ length: 11 }, (_, i) => 2 ** i);
const EDGE = 80; // the picture shows scores from -80 to 80
const x = (score) => 170 + (165 / EDGE) * Math.max(-EDGE, Math.min(EDGE, score));

// Frobenius norm of the Jacobian, diag(p) - p pᵀ
const jacobianNorm = (p) =>
  Math.hypot(...p.flatMap((a, i) => p.map((b, j) => a * ((i === j) - b))));

const softmaxOf = (scores) => {
  const weights = softmax(scores);
  return { scores, weights, entropy: entropy(weights), norm: jacobianNorm(weights) };
};

export const compute = ({ d_k, scores }) => {
  const row = scores[Math.log2(d_k)];
  return { plain: softmaxOf(row), divided: softmaxOf(row.map((s) => s / Math.sqrt(d_k))) };
};

export const describe = ({ d_k, scaled }, { plain, divided }) => {
  const say = (name, { weights, entropy, norm }) =>
    `${name}, the largest weight is ${fixed(Math.max(...weights), 3)}, the entropy ` +
    `${number(entropy)} nats and the gradient norm ${number(norm)}.`;
  return (
    `At d_k = ${d_k} a score has standard deviation ${fixed(Math.sqrt(d_k), 2)}` +
    `${scaled ? ", and 1.00 once divided by √d_k" : ""}. ` +
    `${say("Without the scale", plain)} ${say("With it", divided)}`
  );
};

// The normal density with this standard deviation, drawn to one height.
const bell = (deviation) => {
  const points = Array.from({ length: 331 }, (_, i) => {
    const score = ((i - 165) * EDGE) / 165;
    return `${5 + i},${(80 - 70 * Math.exp(-0.5 * (score / deviation) ** 2)).toFixed(1)}`;
  });
  return `M5,80 L${points.join(" ")} 335,80Z`;
};

const build = (root, ui) => {
  const curve = svg("path", { "fill-opacity": 0.25, "stroke-width": 1.5 });
  const dots = Array.from({ length: 8 }, () => svg("circle", { cy: 80, r: 4 }));
  const ticks = [-80, -40, 0, 40, 80].map((score) =>
    svg("text", { x: x(score), y: 100, "text-anchor": score < 0 ? "start" : score ? "end" : "middle" }, fixed(score, 0)),
  );
  const axis = svg("line", { x1: 5, x2: 335, y1: 80, y2: 80, stroke: "currentColor" });
  const named = svg("text", { x: 170, y: 116, "text-anchor": "middle" });
  const panels = { plain: bars("Weights without the scale"), divided: bars("Weights with the scale", 1) };
  root.append(
    beside(
      ui.range("d_k", { label: "Key width d_k", values: WIDTHS }),
      ui.toggle("scaled", { label: "Divide the scores by √d_k in the picture" }),
    ),
    svg("svg", { viewBox: "0 0 340 120", "aria-hidden": "true" }, curve, axis, ...dots, ...ticks, named),
    beside(panels.plain.node, panels.divided.node),
  );
  return ({ d_k, scaled }, result) => {
    const hue = `var(--attn-${Number(scaled)})`;
    change(curve, { d: bell(scaled ? 1 : Math.sqrt(d_k)), style: `fill:${hue};stroke:${hue}` });
    const { scores } = scaled ? result.divided : result.plain;
    dots.forEach((dot, i) => change(dot, { cx: x(scores[i]), style: `fill:${hue}` }));
    named.textContent = `${scaled ? "q·k / √d_k" : "q·k"}: eight scores and the normal curve`;
    for (const [name, panel] of Object.entries(panels))
      panel.paint(result[name].weights.map((_, i) => `key ${i + 1}`), result[name].weights);
  };
};

export default {
  render: figure({ traits: ["d_k", "scaled", "scores"], compute, describe, build }),
};
