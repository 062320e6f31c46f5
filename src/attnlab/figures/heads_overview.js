import { bars, beside, change, el, entropy, figure, fixed, grid, sum, tint } from "./shared.js";

const SIZE = 15; // MB, live.MEGABYTES
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

const chosen = ({ sentence, sentences, maps, own, own_maps }) => {
  const place = Math.min(sentence, sentences.length - (own ? 0 : 1));
  return place < sentences.length
    ? { pieces: sentences[place].split(" "), heads: maps[place] }
    : { pieces: own.split(" "), heads: own_maps };
};

export const compute = (state) => {
  const { score, layer, head, token } = state;
  const { pieces, heads } = chosen(state);
  const weights = (map) =>
    map.slice(0, pieces.length).map((row) => row.slice(0, pieces.length).map((w) => w / 1000));
  const scores = heads.map((maps) => maps.map((map) => SCORES[score](weights(map))));
  const map = weights(heads[layer - 1][head - 1]);
  const row = Math.min(token, pieces.length - 1);
  return {
    pieces,
    scores,
    above: scores.flat().filter((s) => s > scores[layer - 1][head - 1]).length,
    profile: Object.values(SCORES).map((of) => of(map)),
    map,
    token: row,
    most: map[row].indexOf(Math.max(...map[row])),
  };
};

export const describe = ({ score, layer, head }, { pieces, scores, above, map, token, most }) =>
  `In head ${layer}-${head}, “${pieces[token]}” reads “${pieces[most]}” most, with ` +
  `weight ${fixed(map[token][most], 3)}. On this sentence the head’s score ` +
  `“${score}” is ${fixed(scores[layer - 1][head - 1], 2)}; of the other ${scores.flat().length - 1} heads, ` +
  `${above} score higher.`;

const words = (pieces) => pieces.split(" ").slice(1, -1).join(" ");

// Paints weights, in thousandths, as the pixels of a canvas.
const pixels = (canvas, map, S, colour) => {
  change(canvas, { width: S, height: S });
  const image = new ImageData(S, S);
  for (let i = 0, at = 0; i < S; i++)
    for (let j = 0; j < S; j++) {
      for (let part = 0; part < 3; part++) image.data[at++] = colour[part];
      image.data[at++] = 0.255 * map[i][j];
    }
  canvas.getContext("2d").putImageData(image, 0, 0);
};

// The red, green and blue of the first hue, as the style has it.
const colourOf = (node) => {
  const hue = getComputedStyle(node).getPropertyValue("--attn-0");
  return [1, 3, 5].map((at) => parseInt(hue.slice(at, at + 2), 16));
};

// Waits for start.js, which brings window.attnlabModel. Nothing is asked for before.
const starter = () =>
  window.attnlabModel
    ? Promise.resolve()
    : new Promise((onload, failed) => {
        const src = `${document.documentElement.dataset.content_root ?? ""}model/int8-64/start.js`;
        const onerror = () => failed(Error("start.js is missing"));
        document.head.append(el("script", { src, onload, onerror }));
      });

// The weights of all heads, one after the other, as nested lists of thousandths.
const nested = (flat, S) => {
  let at = 0;
  const line = () => Array.from(flat.subarray(at, (at += S)), (w) => Math.round(1000 * w));
  const list = (n, make) => Array.from({ length: n }, make);
  return list(6, () => list(12, () => list(S, line)));
};

// The reader's own sentence: a field, and the button that loads the model for it. Without a kernel
// the page computes; with one, Python does when `asked` changes.
const reader = (ui, last) => {
  let [state, wanted, busy] = ["", "", false]; // "", loading, stopped, ready, kernel
  const said = el("span", { role: "status" });
  const bar = el("progress", { value: 0, "aria-label": "Loading the model" });
  const field = el("input", { type: "text", maxlength: 500, disabled: true, oninput: () => read() });
  const become = (next, words) => {
    state = next;
    field.disabled = state !== "ready" && state !== "kernel";
    bar.style.visibility = state === "loading" ? "" : "hidden";
    button.textContent =
      { loading: "Cancel", ready: "The model is loaded" }[state] ?? `Load the model, ${SIZE} MB`;
    button.disabled = state === "ready";
    said.textContent = words;
  };
  const fail = (error) =>
    become("", `The model cannot be read (${error.message}). The sentences in the list still work.`);
  const read = async () => {
    wanted = field.value.trim();
    if (state === "kernel") ui.put("asked", wanted);
    if (busy || !wanted || state !== "ready") return;
    busy = true;
    try {
      // Of what is typed while the worker computes, only the newest is read.
      for (let text = ""; text !== wanted; ) {
        text = wanted;
        const { pieces, left, maps } = await window.attnlabModel.read(text);
        ui.put("own_maps", nested(maps, pieces.length));
        ui.put("own", pieces.join(" "));
        ui.put("sentence", last);
        said.textContent = left ? `Only 62 word pieces are read: ${left} are left out.` : "";
      }
    } catch (error) {
      fail(error);
    }
    busy = false;
  };
  const load = async () => {
    if (state === "loading") return become("stopped", "Stopped. What is here already stays.");
    become("loading", "");
    try {
      await starter();
      const done = await window.attnlabModel.load((share) => {
        bar.value = share;
        return state === "loading";
      });
      if (!done) return;
      become("ready", "Loaded. Now type.");
      if (field.value) read();
      else field.focus({ preventScroll: true });
    } catch (error) {
      fail(error);
    }
  };
  const button = ui.button("", load);
  become("", "");
  const node = el(
    "div",
    { class: "attn-own" },
    el("div", { class: "attn-control" }, el("label", {}, el("span", {}, "Your own sentence"), field)),
    el("div", { class: "attn-buttons" }, button, bar, said),
  );
  return {
    node,
    // In a notebook there is nothing to load.
    follow() {
      if (state || node.closest(".figure-mount")) return;
      become("kernel", "");
      button.hidden = true;
    },
  };
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
      pixels(cell.firstChild, heads[Math.floor(at / 12)][at % 12], S, colour);
    });
  };
  return { ...overview, pictures: paint };
};

const build = (root, ui, { sentences }) => {
  const overview = wall(ui);
  const large = grid("The chosen head: queries down, keys across", (i) => ui.put("token", i));
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
  const scroll = el("div", { class: "attn-scroll" }, reads.node);
  const query = el("input", { type: "range", min: 0, oninput: () => ui.put("token", +query.value) });
  const profile = el("p");
  const own = reader(ui, sentences.length);
  const options = [...sentences.map(words), "your own"].map((text, i) => [i, text]);
  const choice = ui.choice("sentence", { label: "Sentence", options });
  root.append(
    beside(
      choice,
      ui.choice("score", { label: "Colour by", options: Object.keys(SCORES).map((s) => [s, s]) }),
    ),
    own.node,
    overview.node,
    el("div", { class: "attn-control" }, el("label", {}, el("span", {}, "Word that reads"), query)),
    el("div", { class: "attn-row attn-head" }, el("div", {}, large.node, picture), scroll),
    profile,
  );
  return (state, { pieces, scores, map, token, profile: values }) => {
    const { layer, head } = state;
    const [S, { heads }] = [pieces.length, chosen(state)];
    own.follow();
    choice.querySelector("option:last-child").disabled = !state.own;
    overview.paint({
      rows: scores.map((_, i) => `${i + 1}`),
      columns: scores[0].map((_, j) => `${j + 1}`),
      values: scores,
      text: (value) => fixed(100 * value, 0),
      pressed: (i, j) => i === layer - 1 && j === head - 1,
    });
    const colour = colourOf(root);
    overview.pictures(heads, S, colour);
    large.node.hidden = S > FITS;
    picture.hidden = !large.node.hidden;
    large.node.style.setProperty("--rows", S);
    if (picture.hidden)
      large.paint({ rows: pieces, columns: pieces, values: map, pressed: (i) => i === token });
    else pixels(picture, heads[layer - 1][head - 1], S, colour);
    const band = `0 ${(100 * token) / (S - 1)}% / 100% ${100 / S}%`;
    picture.style.background = `linear-gradient(${tint(0.5, 1)} 0 0) ${band} no-repeat`;
    change(query, { max: S - 1, "aria-valuetext": pieces[token] });
    query.value = token;
    reads.node.caption.textContent = `Head ${layer}-${head}, “${pieces[token]}” reads`;
    reads.paint(pieces, map[token]);
    change(scroll, { tabindex: S > FITS ? 0 : null });
    const named = Object.keys(SCORES).map((name, i) => `${name} ${fixed(values[i], 2)}`);
    profile.textContent = `Head ${layer}-${head} here: ${named.join(", ")}.`;
  };
};

export default {
  render: figure({
    traits: ["sentence", "score", "layer", "head", "token", "sentences", "maps", "asked", "own", "own_maps"],
    compute,
    describe,
    build,
  }),
};
