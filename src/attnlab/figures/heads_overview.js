import { HEADS, SCORES, VIEWS, chosen, every, like, nameOf, order, placesOf, remaining, vectors, weights, without } from "./heads_math.js";
import { arcs, reader, wordsOf } from "./reading.js";
import { bars, beside, change, el, figure, fixed, grid, tint } from "./shared.js";

const FITS = 20; // more word pieces than this are a picture instead of a table

export const compute = (state) => {
  const { score, layer, head, token, view, off } = state;
  const shown = chosen(state);
  const [pieces, left] = [shown.text.split(" "), remaining(state, shown)];
  const S = pieces.length;
  const heads = (left ? left.maps : shown.heads).flat();
  const flat = heads.map((map) => SCORES[score](map, S));
  const place = HEADS * (layer - 1) + head - 1;
  const [map, row] = [weights(heads[place], S), Math.min(token, S - 1)];
  const found = {
    pieces,
    scores: Array.from({ length: flat.length / HEADS }, (_, i) => flat.slice(HEADS * i, HEADS * (i + 1))),
    above: flat.filter((s) => s > flat[place]).length,
    profile: Object.values(SCORES).map((of) => of(heads[place], S)),
    map,
    token: row,
    most: map[row].indexOf(Math.max(...map[row])),
    off: left ? placesOf(off) : [],
  };
  if (view === VIEWS[1]) return { ...found, ...like(state, every(heads, S)) };
  if (view === VIEWS[2]) return { ...found, ...vectors(state, shown, pieces, row) };
  if (view === VIEWS[3])
    return { ...found, ...without(map, heads, shown.heads.flat(), left, pieces) };
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
  [VIEWS[2]]: ({ after }, { pieces, token, values, off, nearest: [word, place] }) =>
    `${after ? `After layer ${after}` : "Before the first layer"}, ` +
    `${off.length ? "with all heads on, " : ""}the vector of “${pieces[token]}” ` +
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

// Paints shares of full colour as pixels.
const pixels = (canvas, map, S, colour, full) => {
  change(canvas, { width: S, height: S });
  const image = new ImageData(S, S);
  const [red, green, blue] = colour;
  const all = new Uint32Array(image.data.buffer); // of four bytes, as every machine has them today
  const rest = (blue << 16) | (green << 8) | red;
  for (let i = 0, at = 0; i < S; i++)
    for (let j = 0; j < S; j++) all[at++] = (Math.max(0, (255 / full) * map[i][j]) << 24) | rest;
  canvas.getContext("2d").putImageData(image, 0, 0);
};

// The red, green and blue of the first hue, as the style has it.
const colourOf = (node) => {
  const hue = getComputedStyle(node).getPropertyValue("--attn-0");
  return [1, 3, 5].map((at) => parseInt(hue.slice(at, at + 2), 16));
};

// All heads as pictures, and the buttons below them with their scores.
const wall = (ui) => {
  const overview = grid("All heads, layers down, with scores in hundredths", (i, j) => {
    ui.put("layer", i + 1);
    ui.put("head", j + 1);
  });
  overview.node.classList.add("attn-many", "attn-wall");
  let shown = null;
  const paint = (heads, S, colour) => {
    if (shown === heads) return;
    shown = heads;
    // Later, so that a key need not wait.
    setTimeout(() =>
      overview.node.querySelectorAll("tbody td").forEach((cell, at) => {
        const button = cell.lastChild;
        if (button === cell.firstChild)
          cell.prepend(el("canvas", { "aria-hidden": true, onclick: () => button.click() }));
        pixels(cell.firstChild, heads[Math.floor(at / HEADS)][at % HEADS], S, colour, 1000);
      }),
    );
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
    const values = heads.flat().map((map) => SCORES[ui.get("score")](map, text.split(" ").length));
    set(order(values).slice(0, 20));
  });
  // As many of each layer.
  const random = ui.button("As many at random", () => {
    const layerOf = (place) => Math.floor(place / HEADS);
    const free = order(Array.from({ length: 72 }, Math.random));
    set([...off()].map((place) => free.splice(free.findIndex((other) => layerOf(other) === layerOf(place)), 1)[0]));
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

const CAPTIONS = {
  [VIEWS[0]]: ({ layer, head }) => `Head ${layer}-${head}: queries down, keys across`,
  [VIEWS[1]]: (_, { labels }) => `Head ${labels[0]}, the most like it here`,
  [VIEWS[2]]: ({ after }) => `Cosines of the words’ vectors ${after ? `after layer ${after}` : "before layer 1"}`,
};
const LISTS = {
  [VIEWS[0]]: ({ layer, head }, { pieces, token }) => `Head ${layer}-${head}, “${pieces[token]}” reads`,
  [VIEWS[1]]: ({ layer, head }) => `In common with ${layer}-${head} here`,
  [VIEWS[2]]: (_, { pieces, token }) => `Nearest to “${pieces[token]}”; (2): in sentence 2`,
  [VIEWS[3]]: () => "Cosine of each word’s vector with the whole network’s",
};

const build = (root, ui, { sentences, asked }) => {
  let state = null; // the latest
  const current = () => Object.fromEntries(parts.traits.map((name) => [name, ui.get(name)]));
  // A link may hold what is no head or view.
  const within = (name, most) => ui.put(name, Math.min(most, Math.max(1, ui.get(name))));
  within("layer", 6);
  within("head", HEADS);
  if (![0, 3, 6].includes(ui.get("after"))) ui.put("after", 6);
  if (!(ui.get("score") in SCORES)) ui.put("score", "[CLS]");
  if (!VIEWS.includes(ui.get("view"))) ui.put("view", VIEWS[0]);

  const overview = wall(ui);
  const sentence = arcs((i) => ui.put("token", i));
  const large = grid("", (i) => ui.put("token", i));
  // Fingers and arrow keys point as a mouse does.
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
  // What scrolls must be reached by keyboard.
  new ResizeObserver(() =>
    change(scroll, { tabindex: scroll.scrollHeight > scroll.clientHeight ? 0 : null }),
  ).observe(reads.node);
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
  const switched = switches(ui, current);
  const extras = { [VIEWS[2]]: ui.range("after", { label: "Layers passed", values: [0, 3, 6] }), [VIEWS[3]]: switched.node };
  const view = ui.choice("view", { label: "Show", options: VIEWS.map((s) => [s, s]) });
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
    el(
      "div",
      { class: "attn-row attn-head" },
      el("div", {}, large.node, picture),
      el("div", { class: "attn-side" }, view, extra, scroll),
    ),
  );
  return (now, result) => {
    const { pieces, scores, map, token, profile: values, grid: shown, off } = result;
    const { layer, head, view } = now;
    const [S, left] = [pieces.length, remaining(now, chosen(now))];
    if (state?.view !== view) extra.replaceChildren(...[extras[view]].filter(Boolean));
    state = now;
    own.follow(now.own);
    switched.follow(now);
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
      large.node.caption.textContent = (CAPTIONS[view] ?? CAPTIONS[VIEWS[0]])(now, result);
    } else pixels(picture, shown, S, colour, 1);
    const band = `0 ${(100 * token) / (S - 1)}% / 100% ${100 / S}%`;
    picture.style.background = `linear-gradient(${tint(0.5, 1)} 0 0) ${band} no-repeat`;
    reads.node.caption.textContent = LISTS[view](now, result);
    reads.paint(result.labels, result.values, { text: (v) => fixed(v, view === VIEWS[2] ? 2 : 3) });
    const named = Object.keys(SCORES).map((name, i) => `${name} ${fixed(values[i], 2)}`);
    profile.textContent = `Head ${layer}-${head} here: ${named.join(", ")}.`;
  };
};

const parts = {
  traits: ["sentence", "score", "layer", "head", "token", "view", "after", "off", "sentences", "maps", "alike", "asked", "own", "left"],
  compute,
  describe,
  build,
};

export default { render: figure(parts) };
