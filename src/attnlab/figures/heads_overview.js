import { arcs, reader, wordsOf } from "./reading.js";
import { bars, beside, change, el, entropy, figure, fixed, grid, sum, tint } from "./shared.js";

const HEADS = 12;
const VIEWS = ["where it reads", "heads like it", "word vectors", "heads switched off"];
const BARS = 8; // of the nearest heads or words
const FITS = 20; // more word pieces than this are a picture instead of a table

const mean = (xs) => sum(xs) / xs.length;
// Mean weight on the key at this place, over all other queries
const delimiter = (map, place) => mean(map.map((row) => row[place]).filter((_, i) => i !== place));
// Mean weight on the key so far to the right, over the queries that have it
const neighbour = (map, offset) =>
  mean(map.map((row, i) => row[i + offset]).filter((weight) => weight !== undefined));

const SCORES = {
  "[CLS]": (map) => delimiter(map, 0),
  "[SEP]": (map) => delimiter(map, map.length - 1),
  "previous token": (map) => neighbour(map, -1),
  "next token": (map) => neighbour(map, 1),
  itself: (map) => neighbour(map, 0),
  uniformity: (map) => mean(map.map(entropy)) / Math.log(map.length),
};

const nameOf = (place) => `${Math.floor(place / HEADS) + 1}-${(place % HEADS) + 1}`;
// The places of the heads that are off.
const placesOf = (off) => {
  const named = [...off.matchAll(/\b([1-6])-(1[0-2]|[1-9])\b/g)];
  return [...new Set(named.map(([, layer, head]) => HEADS * (layer - 1) + +head - 1))].sort((a, b) => a - b);
};
// The share of weight that two maps have on the same keys.
const inCommon = (one, other) =>
  mean(one.map((row, i) => row.reduce((total, w, j) => total + Math.min(w, other[i][j]), 0)));
// Places by value, the largest first.
const order = (values) => {
  const rounded = values.map((value) => Math.round(1e9 * value));
  return [...values.keys()].sort((a, b) => rounded[b] - rounded[a] || a - b);
};

// Which sentence is shown, its pieces, and the whole network's weights.
const chosen = ({ sentence, sentences, maps, own }) => {
  const place = Math.min(sentence, sentences.length - (own.pieces ? 0 : 1));
  return place < sentences.length
    ? { place, text: sentences[place], heads: maps[place] }
    : { place, text: own.pieces, heads: own.maps };
};
// What is left of the network, or null.
const remaining = ({ off, left }, { text }) =>
  left.pieces === text && `${left.off}` === `${placesOf(off)}` ? left : null;

// A map without its padding, from thousandths.
const weights = (map, S) => Array.from({ length: S }, (_, i) => Array.from({ length: S }, (_, j) => map[i][j] / 1000));
const every = (heads, S) => heads.flatMap((maps) => maps.map((map) => weights(map, S)));

const like = ({ layer, head, sentences, maps: listed }, all) => {
  const place = HEADS * (layer - 1) + head - 1;
  const common = all.map((map) => inCommon(all[place], map));
  const everywhere = common.map(() => 0);
  sentences.forEach((text, i) => {
    const others = every(listed[i], text.split(" ").length);
    others.forEach((map, k) => (everywhere[k] += inCommon(others[place], map) / sentences.length));
  });
  common[place] = everywhere[place] = -1;
  const here = order(common).slice(0, BARS);
  const [first] = order(everywhere);
  return {
    grid: all[here[0]],
    labels: here.map(nameOf),
    values: here.map((k) => common[k]),
    everywhere: [nameOf(first), everywhere[first]],
  };
};

const vectors = ({ sentences, alike, own, after }, { place }, pieces, token) => {
  const S = pieces.length;
  const texts = sentences.map((text) => text.split(" "));
  const words = texts.flatMap((text, i) => text.map((piece) => [piece, i]));
  let [start, cosine] = [0, (i, j) => own.alike[after][i][j] / 100];
  if (place < sentences.length) {
    const N = words.length;
    start = sum(texts.slice(0, place).map((text) => text.length));
    // Each pair stands once in the list, those of the first word first.
    cosine = (i, k) => {
      const [a, b] = [Math.min(start + i, k), Math.max(start + i, k)];
      return alike[after][a * N - (a * (a - 1)) / 2 + b - a] / 100;
    };
  } else words.unshift(...pieces.map((piece) => [piece, place]));
  const known = place < sentences.length ? words.length : own.alike[after][0].length;
  const row = Array.from({ length: known }, (_, k) => (k === start + token ? -2 : cosine(token, k)));
  const near = order(row).slice(0, BARS);
  const [word, i] = words[near[0]];
  return {
    grid: pieces.map((_, i) => pieces.map((_, j) => cosine(i, start + j))),
    labels: near.map((k) => words[k][0] + (words[k][1] === place ? "" : ` (${words[k][1] + 1})`)),
    values: near.map((k) => row[k]),
    nearest: [word, i === place ? 0 : i + 1],
  };
};

const without = ({ layer, head }, all, whole, left, pieces) => {
  const grid = all[HEADS * (layer - 1) + head - 1];
  const same = { grid, labels: pieces, values: pieces.map(() => 1), cosine: 1, moved: ["", 0] };
  if (!left) return same;
  const moved = whole.map((map, i) => 1 - inCommon(map, all[i]));
  const [most] = order(moved);
  return { ...same, values: left.words, cosine: left.sentence, moved: [nameOf(most), moved[most]] };
};

export const compute = (state) => {
  const { score, layer, head, token, view, off } = state;
  const shown = chosen(state);
  const [pieces, left] = [shown.text.split(" "), remaining(state, shown)];
  const S = pieces.length;
  const all = every(left ? left.maps : shown.heads, S);
  const flat = all.map((map) => SCORES[score](map));
  const place = HEADS * (layer - 1) + head - 1;
  const [map, row] = [all[place], Math.min(token, S - 1)];
  const found = {
    pieces,
    scores: Array.from({ length: flat.length / HEADS }, (_, i) => flat.slice(HEADS * i, HEADS * (i + 1))),
    above: flat.filter((s) => s > flat[place]).length,
    profile: Object.values(SCORES).map((of) => of(map)),
    map,
    token: row,
    most: map[row].indexOf(Math.max(...map[row])),
    off: left ? placesOf(off) : [],
  };
  if (view === VIEWS[1]) return { ...found, ...like(state, all) };
  if (view === VIEWS[2]) return { ...found, ...vectors(state, shown, pieces, row) };
  if (view === VIEWS[3])
    return { ...found, ...without(state, all, left && every(shown.heads, S), left, pieces) };
  return { ...found, grid: map, labels: pieces, values: map[row] };
};

const SAID = {
  [VIEWS[0]]: ({ score, layer, head }, { pieces, scores, above, map, token, most, off }) =>
    `In head ${layer}-${head}, “${pieces[token]}” reads “${pieces[most]}” most, with ` +
    `weight ${fixed(map[token][most], 3)}. On this sentence the head’s score ` +
    `“${score}” is ${fixed(scores[layer - 1][head - 1], 2)}; of the other ${scores.flat().length - 1} heads, ` +
    `${above} score higher.${off.length ? ` Heads switched off: ${off.length}.` : ""}`,
  [VIEWS[1]]: ({ layer, head, sentences }, { labels, values, everywhere: [other, share] }) =>
    `On this sentence head ${layer}-${head} has most in common with head ${labels[0]}: ` +
    `${fixed(values[0], 2)} of its weight lies on the same keys. Over the ${sentences.length} ` +
    `sentences of the list that is head ${other}, with ${fixed(share, 2)}.`,
  [VIEWS[2]]: ({ after }, { pieces, token, values, nearest: [word, place] }) =>
    `${after ? `After layer ${after}` : "Before the first layer"}, the vector of “${pieces[token]}” ` +
    `is nearest to that of “${word}” ` +
    `${place ? `in sentence ${place} of the list` : "in the same sentence"}: cosine ${fixed(values[0], 2)}.`,
  [VIEWS[3]]: ({ off: named }, { pieces, off, values, cosine, moved: [head, share] }) => {
    const n = placesOf(named).length;
    if (!n) return "No head is switched off: choose one above.";
    if (!off.length) return `Of 72 heads, ${n} will be off once the model is loaded.`;
    const least = Math.min(...values);
    return (
      `Without ${n} of 72 heads the sentence’s vector has cosine ${fixed(cosine, 3)} with the whole ` +
      `network’s. Of its words “${pieces[values.indexOf(least)]}” changes most, to ` +
      `${fixed(least, 2)}; of the heads, ${head} does: ${fixed(share, 2)} of its weight went to other keys.`
    );
  },
};
export const describe = (state, result) => SAID[state.view](state, result);

// Paints shares of full colour as the pixels of a canvas.
const pixels = (canvas, map, S, colour, full) => {
  change(canvas, { width: S, height: S });
  const image = new ImageData(S, S);
  for (let i = 0, at = 0; i < S; i++)
    for (let j = 0; j < S; j++) {
      for (let part = 0; part < 3; part++) image.data[at++] = colour[part];
      image.data[at++] = (255 / full) * map[i][j];
    }
  canvas.getContext("2d").putImageData(image, 0, 0);
};

// The red, green and blue of the first hue, as the style has it.
const colourOf = (node) => {
  const hue = getComputedStyle(node).getPropertyValue("--attn-0");
  return [1, 3, 5].map((at) => parseInt(hue.slice(at, at + 2), 16));
};

// All heads as pictures, and the buttons below them with their scores.
const wall = (ui) => {
  const overview = grid("All heads, layers down: a small map each, and its score in hundredths", (i, j) => {
    ui.put("layer", i + 1);
    ui.put("head", j + 1);
  });
  overview.node.classList.add("attn-many", "attn-wall");
  let shown = null;
  const paint = (heads, S, colour) => {
    if (shown === heads) return;
    shown = heads;
    overview.node.querySelectorAll("tbody td").forEach((cell, at) => {
      const button = cell.lastChild;
      if (button === cell.firstChild)
        cell.prepend(el("canvas", { "aria-hidden": true, onclick: () => button.click() }));
      pixels(cell.firstChild, heads[Math.floor(at / HEADS)][at % HEADS], S, colour, 1000);
    });
  };
  return { ...overview, pictures: paint };
};

// The buttons that switch heads off.
const switches = (ui, state) => {
  const set = (places) => ui.put("off", [...places].sort((a, b) => a - b).map(nameOf).join(" "));
  const off = () => new Set(placesOf(ui.get("off")));
  const one = ui.button("", () => {
    const [now, place] = [off(), HEADS * (ui.get("layer") - 1) + ui.get("head") - 1];
    set(now.delete(place) ? now : now.add(place));
  });
  const highest = ui.button("The 20 highest off", () => {
    const { text, heads } = chosen(state());
    const values = every(heads, text.split(" ").length).map((map) => SCORES[ui.get("score")](map));
    set(order(values).slice(0, 20));
  });
  // As many of each layer.
  const random = ui.button("As many at random", () => {
    const left = [...Array(72).keys()].map((place) => [Math.random(), place]).sort(([a], [b]) => a - b);
    const pick = ([...off()]).map((place) => {
      const at = left.findIndex(([, other]) => Math.floor(other / HEADS) === Math.floor(place / HEADS));
      return left.splice(at, 1)[0][1];
    });
    set(pick);
  });
  const none = ui.button("All on", () => set([]));
  const node = el(
    "div",
    {},
    el("div", { class: "attn-buttons" }, one, highest, random, none),
    el("p", {}, "A cosine near 1 says that the vector stays, not that the heads do nothing: try as many others from the same layers."),
  );
  return {
    node,
    follow({ layer, head, off: named }) {
      const now = placesOf(named);
      const name = `${layer}-${head}`;
      one.textContent = now.map(nameOf).includes(name) ? `Switch ${name} on` : `Switch ${name} off`;
      random.disabled = none.disabled = !now.length;
    },
  };
};

// What the figure's state asks the model for.
const question = (state) => {
  const { asked, own, off, left, view, sentences } = state;
  if (asked && own.text !== asked) return { text: asked };
  const { place, text } = chosen(state);
  const [mine, S] = [place === sentences.length, text.split(" ").length];
  if (mine && view === VIEWS[2] && own.alike[0][0].length === S)
    return { text: own.text, texts: sentences.map(wordsOf) };
  const [places, words] = [placesOf(off), mine ? own.text : wordsOf(text)];
  const there = left.text === words && `${left.off}` === `${places}`;
  return places.length && !there ? { text: words, off: places } : null;
};

const TRAITS = ["sentence", "score", "layer", "head", "token", "view", "after", "off", "sentences", "maps", "alike", "asked", "own", "left"];

const CAPTIONS = {
  [VIEWS[0]]: ({ layer, head }) => `Head ${layer}-${head}: queries down, keys across`,
  [VIEWS[1]]: (_, { labels }) => `Head ${labels[0]}, the most like it here`,
  [VIEWS[2]]: ({ after }) => `Cosines of the words’ vectors ${after ? `after layer ${after}` : "before layer 1"}`,
  [VIEWS[3]]: ({ layer, head }, { off }) => `Head ${layer}-${head}${off.length ? " in what is left" : ""}`,
};
const LISTS = {
  [VIEWS[0]]: ({ layer, head }, { pieces, token }) => `Head ${layer}-${head}, “${pieces[token]}” reads`,
  [VIEWS[1]]: ({ layer, head }) => `In common with ${layer}-${head} here`,
  [VIEWS[2]]: (_, { pieces, token }) => `Nearest to “${pieces[token]}”; (2): in sentence 2`,
  [VIEWS[3]]: () => "Cosine of each word’s vector with the whole network’s",
};

const build = (root, ui, { sentences, asked }) => {
  let state = null; // the latest
  const current = () => Object.fromEntries(TRAITS.map((name) => [name, ui.get(name)]));
  // A link may hold what is no head or view.
  const within = (name, least, most) => ui.put(name, Math.min(most, Math.max(least, ui.get(name))));
  for (const [name, least, most] of [["layer", 1, 6], ["head", 1, HEADS], ["after", 0, 6]]) within(name, least, most);
  if (!(ui.get("score") in SCORES)) ui.put("score", "[CLS]");
  if (!VIEWS.includes(ui.get("view"))) ui.put("view", VIEWS[0]);

  const overview = wall(ui);
  const sentence = arcs((i) => ui.put("token", i));
  const large = grid("", (i) => ui.put("token", i));
  // A finger and the arrow keys point at a query as a mouse does.
  const follow = ({ target }) => {
    const row = target.closest("tbody tr");
    if (row) ui.put("token", row.sectionRowIndex);
  };
  for (const event of ["pointerover", "keyup"]) large.node.addEventListener(event, follow);
  large.node.classList.add("attn-tall");
  const picture = el("canvas", {
    "aria-hidden": true,
    onpointermove: ({ offsetY }) =>
      ui.put("token", Math.max(0, Math.floor((offsetY / picture.clientHeight) * picture.height))),
  });
  const reads = bars("", 1);
  reads.node.classList.add("attn-wide");
  const scroll = el("div", { class: "attn-scroll" }, reads.node);
  const profile = el("p");
  let typed = null; // the sentence that was shown when the reader typed
  const own = reader(ui, {
    asked,
    typed: () => (typed = ui.get("sentence")),
    want: () => question(current()),
    take(answer) {
      if (answer.off) return ui.put("left", answer);
      ui.put("own", answer);
      if (typed === ui.get("sentence")) ui.put("sentence", sentences.length);
      typed = null;
    },
  });
  const options = [...sentences.map((text, i) => `${i + 1}: ${wordsOf(text)}`), "your own"];
  const choice = ui.choice("sentence", { label: "Sentence", options: options.map((text, i) => [i, text]) });
  const parts = switches(ui, current);
  const extras = { [VIEWS[2]]: ui.range("after", { label: "Layers passed", max: 6 }), [VIEWS[3]]: parts.node };
  const extra = el("div");
  root.append(
    beside(
      choice,
      ui.choice("score", { label: "Colour by", options: Object.keys(SCORES).map((s) => [s, s]) }),
    ),
    own.node,
    overview.node,
    profile,
    sentence.node,
    ui.choice("view", { label: "Show", options: VIEWS.map((s) => [s, s]) }),
    el(
      "div",
      { class: "attn-row attn-head" },
      el("div", {}, large.node, picture),
      el("div", { class: "attn-side" }, extra, scroll),
    ),
  );
  return (now, result) => {
    const { pieces, scores, map, token, profile: values, grid: shown, off } = result;
    const { layer, head, view } = now;
    const [S, left] = [pieces.length, remaining(now, chosen(now))];
    if (state?.view !== view) extra.replaceChildren(...[extras[view]].filter(Boolean));
    state = now;
    own.follow(now.own);
    parts.follow(now);
    choice.querySelector("option:last-child").disabled = !now.own.pieces;
    overview.paint({
      rows: scores.map((_, i) => `${i + 1}`),
      columns: scores[0].map((_, j) => `${j + 1}`),
      values: scores,
      text: (value) => fixed(100 * value, 0),
      pressed: (i, j) => i === layer - 1 && j === head - 1,
      blocked: (i, j) => off.includes(HEADS * i + j),
    });
    const colour = colourOf(root);
    overview.pictures(left ? left.maps : chosen(now).heads, S, colour);
    sentence.paint(pieces, map, token);
    large.node.hidden = S > FITS;
    picture.hidden = !large.node.hidden;
    large.node.style.setProperty("--rows", S);
    if (picture.hidden) {
      large.paint({ rows: pieces, columns: pieces, values: shown, pressed: (i) => i === token });
      large.node.caption.textContent = CAPTIONS[view](now, result);
    } else pixels(picture, shown, S, colour, 1);
    const band = `0 ${(100 * token) / (S - 1)}% / 100% ${100 / S}%`;
    picture.style.background = `linear-gradient(${tint(0.5, 1)} 0 0) ${band} no-repeat`;
    reads.node.caption.textContent = LISTS[view](now, result);
    reads.paint(result.labels, result.values, { text: (v) => fixed(v, view === VIEWS[2] ? 2 : 3) });
    change(scroll, { tabindex: scroll.scrollHeight > scroll.clientHeight ? 0 : null });
    const named = Object.keys(SCORES).map((name, i) => `${name} ${fixed(values[i], 2)}`);
    profile.textContent = `Head ${layer}-${head} here: ${named.join(", ")}.`;
  };
};

export default {
  render: figure({
    traits: ["sentence", "score", "layer", "head", "token", "view", "after", "off", "sentences", "maps", "alike", "asked", "own", "left"],
    compute,
    describe,
    build,
  }),
};
