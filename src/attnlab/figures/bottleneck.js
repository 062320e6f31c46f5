import { bars, beside, change, figure, fixed, svg } from "./shared.js";

const LENGTHS = Array.from({ length: 10 }, (_, i) => 5 * (i + 1));
const SIZES = [32, 128, 256];

export const compute = ({ length, numbers, right, bits }) => {
  const [row, column] = [SIZES.indexOf(numbers), LENGTHS.indexOf(length)];
  return {
    sent: length * Math.log2(20),
    room: 32 * numbers,
    vector: { right: right[row][column], bits: bits[row][column] },
    back: { right: right[3][column], bits: bits[3][column] },
  };
};

export const describe = ({ length, numbers }, { sent, room, vector, back }) =>
  `A string of ${length} symbols carries ${fixed(sent, 0)} bits. A vector ` +
  `of ${numbers} numbers has room for ${room}, yet its decoder reads ` +
  `${fixed(vector.bits, 0)} and gets ${fixed(100 * vector.right, 0)} % of ` +
  `the symbols right. Looking back, the other reads ${fixed(back.bits, 0)} bits and ` +
  `gets ${fixed(100 * back.right, 0)} % right.`;

const x = (length) => 40 + 5.6 * length;
const y = (share) => 150 - 140 * share;

// A curve with a marker at each length; the marker at the chosen one is large.
const curve = (series) => {
  const hue = `var(--attn-${series})`;
  const line = svg("path", { fill: "none", stroke: hue, "stroke-width": 2 });
  const marks = LENGTHS.map((length) =>
    series
      ? svg("path", { fill: hue })
      : svg("circle", { cx: x(length), fill: hue }),
  );
  const paint = (shares, chosen) => {
    change(line, { d: `M${shares.map((share, i) => `${x(LENGTHS[i])},${y(share)}`).join(" ")}` });
    shares.forEach((share, i) => {
      const r = LENGTHS[i] === chosen ? 7 : 3;
      const square = `M${x(LENGTHS[i]) - r},${y(share) - r}h${2 * r}v${2 * r}h${-2 * r}z`;
      change(marks[i], series ? { d: square } : { cy: y(share), r });
    });
  };
  return { nodes: [line, ...marks], paint };
};

const build = (root, ui) => {
  const text = (at, ...words) => svg("text", { "text-anchor": "middle", ...at }, ...words);
  const [vector, back] = [curve(0), curve(1)];
  const chosen = svg("line", { y1: 10, y2: 150, stroke: "currentColor", "stroke-dasharray": "4 3" });
  const named = (at, mark, words, series) =>
    text({ x: at, y: -8 }, svg("tspan", { style: `fill:var(--attn-${series})` }, mark), words);
  const picture = svg(
    "svg",
    { viewBox: "0 -20 340 206", "aria-hidden": "true" },
    svg("path", { d: "M40,10V150H335", fill: "none", stroke: "currentColor" }),
    ...[0, 0.5, 1].map((share) => text({ x: 35, y: y(share) + 4, "text-anchor": "end" }, `${100 * share} %`)),
    ...[10, 20, 30, 40, 50].map((length) => text({ x: x(length), y: 166 }, length)),
    text({ x: 187, y: 182 }, "symbols in the string"),
    text({ x: 5, y: -8, "text-anchor": "start" }, "Symbols right"),
    named(170, "● ", "one vector", 0),
    named(275, "■ ", "looking back", 1),
    chosen,
    ...vector.nodes,
    ...back.nodes,
  );
  const amounts = bars("");
  amounts.node.classList.add("attn-wide");
  root.append(
    beside(
      ui.range("length", { label: "Symbols in the string", values: LENGTHS }),
      ui.range("numbers", { label: "Numbers in the vector", values: SIZES }),
    ),
    beside(picture, amounts.node),
  );
  return ({ length, numbers, right }, found) => {
    change(chosen, { x1: x(length), x2: x(length) });
    vector.paint(right[SIZES.indexOf(numbers)], length);
    back.paint(right[3], length);
    amounts.node.caption.textContent = `Bits sent and read; the vector has room for ${found.room}`;
    amounts.paint(
      ["sent", "one vector", "looking back"],
      [found.sent, found.vector.bits, found.back.bits],
      { largest: 50 * Math.log2(20), text: (bits) => fixed(bits, 0) },
    );
  };
};

export default {
  render: figure({ traits: ["length", "numbers", "right", "bits"], compute, describe, build }),
};
