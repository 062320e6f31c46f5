import { beside, change, el, figure, fixed, grid, softmax, sum, svg } from "./shared.js";

export const compute = ({ sentence, word, sources, targets, scores, states }) => {
  const place = Math.min(sentence, sources.length - 1);
  const [source, target] = [sources[place].split(" "), targets[place].split(" ")];
  const t = Math.min(word, target.length);
  const rows = scores[place].slice(0, t).map((row) => row.slice(0, source.length));
  const h = states[place].slice(0, source.length);
  const weights = rows.map(softmax);
  return {
    source,
    target,
    word: t,
    scores: rows[t - 1],
    states: h,
    weights,
    context: h[0].map((_, i) => sum(weights[t - 1].map((weight, j) => weight * h[j][i]))),
  };
};

export const describe = (_, { source, target, word, scores, weights }) => {
  const row = weights[word - 1];
  const [first, second] = [...row.keys()].sort((a, b) => row[b] - row[a]);
  const written = target.slice(0, word - 1).join(" ");
  return (
    `${written ? `“${written}” is written` : "Nothing is written"}, “${target[word - 1]}” comes next. ` +
    `The highest of ${source.length} ` +
    `scores, ${fixed(scores[first], 2)}, is that of “${source[first]}”, and the ` +
    `softmax gives it the weight ${fixed(row[first], 3)}. Next is “${source[second]}”: ` +
    `score ${fixed(scores[second], 2)}, weight ${fixed(row[second], 3)}.`
  );
};

// A vector as small bars, up where a component is positive, as dark as its weight.
const strip = (vector, largest, weight, series) => {
  const bars = vector.map((value, i) => `M${4 * i + 2},10v${((-9 * value) / largest).toFixed(2)}`);
  return svg(
    "svg",
    { viewBox: `0 0 ${4 * vector.length} 20`, preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("path", { d: `M0,10H${4 * vector.length}`, stroke: "currentColor", "stroke-width": 0.5 }),
    svg("path", {
      d: bars.join(""),
      "stroke-width": 3,
      style: `stroke:var(--attn-${series});opacity:${(0.35 + 0.65 * weight).toFixed(2)}`,
    }),
  );
};

const bar = (share, series, words) =>
  el(
    "td",
    {},
    el("i", { style: `width:${(40 * share).toFixed(1)}%;background:var(--attn-${series})` }),
    el("span", {}, words),
  );

const build = (root, ui, { sources }) => {
  let [now, last] = [1, 1];
  const step = (by) => ui.put("word", Math.min(last, Math.max(1, now + by)));
  const slider = ui.range("word", { label: "Word that comes next", min: 1, max: 1 });
  const input = slider.querySelector("input");
  const body = el("tbody");
  const heads = ["score", "weight", "state"].map((text) => el("th", { scope: "col" }, text));
  const table = el(
    "table",
    { class: "attn-bars attn-steps" },
    el("caption"),
    el("thead", {}, el("tr", {}, el("td"), ...heads)),
    body,
  );
  const map = grid("Weights so far, source across");
  map.node.classList.add("attn-tall");
  root.append(
    beside(
      change(
        ui.choice("sentence", { label: "Sentence", options: sources.map((text, i) => [i, text]) }),
        { style: "flex-basis:100%" },
      ),
      slider,
      el("div", {}, ui.button("Previous word", () => step(-1)), " ", ui.button("Next word", () => step(1))),
    ),
    beside(table, map.node),
  );
  return (_, { source, target, word, scores, states, weights, context }) => {
    [now, last] = [word, target.length];
    change(input, { max: last });
    input.value = word;
    const [row, lowest] = [weights[word - 1], Math.min(...scores)];
    const range = Math.max(...scores) - lowest || 1;
    const largest = Math.max(...states.flat().map(Math.abs));
    table.caption.textContent = `Before “${target[word - 1]}”`;
    body.replaceChildren(
      ...source.map((text, j) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, text),
          bar((scores[j] - lowest) / range, 0, fixed(scores[j], 2)),
          bar(row[j], 1, fixed(row[j], 3)),
          el("td", {}, strip(states[j], largest, row[j], 2)),
        ),
      ),
      el(
        "tr",
        {},
        el("th", { scope: "row" }, "context"),
        el("td"),
        el("td", {}, fixed(sum(row), 3)),
        el("td", {}, strip(context, largest, 1, 3)),
      ),
    );
    map.paint({
      rows: target,
      columns: source,
      values: target.map((_, i) => weights[i] ?? source.map(() => 0)),
      blocked: (i) => i >= word,
    });
  };
};

export default {
  render: figure({
    traits: ["sentence", "word", "sources", "targets", "scores", "states"],
    compute,
    describe,
    build,
  }),
};
