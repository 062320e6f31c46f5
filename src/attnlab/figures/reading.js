// What figures share that read sentences with MiniLM: arcs over a sentence, and the reader's own.
import { change, el, svg, tint } from "./shared.js";

const SIZE = 12; // MB, live.MEGABYTES
const MOST_LETTERS = 2000; // as in _reading.py
const FAINT = 0.1; // thinner arcs of other words are not drawn
const FEW = 20; // in longer sentences only the chosen word has arcs

export const wordsOf = (pieces) => pieces.split(" ").slice(1, -1).join(" ").replaceAll(" ##", "");

// A sentence whose words are buttons, with an arc for each weight of a head: those of the chosen
// word stand out. On a narrow screen, where the style has words in a column, arcs stand beside them.
export const arcs = (pick) => {
  const lines = svg("svg", { "aria-hidden": true });
  const list = el("div", { class: "attn-words", role: "group", "aria-label": "Word that reads" });
  const node = el("div", { class: "attn-arcs" }, lines, list);
  let [words, at, shape, last] = [[], [], "", null];

  const move = (event, i) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    const next = { Home: 0, End: words.length - 1 }[event.key] ?? i + (step ?? NaN);
    if (!words[next]) return;
    event.preventDefault();
    words[next].focus();
    pick(next);
  };
  const word = (text, i) =>
    el(
      "button",
      { type: "button", onclick: () => pick(i), onpointerenter: () => pick(i), onkeydown: (event) => move(event, i) },
      text,
    );

  // From place to place on the line of words, bent away from it.
  const bend = (from, to, room, down) => {
    const share = Math.abs(to - from) / (at.at(-1) - at[0]);
    const [a, b, c] = from === to ? [from - 5, from + 5, 22] : [from, to, 16 + (room - 16) * share ** 0.7];
    return down ? `M0 ${a}C${c} ${a} ${c} ${b} 0 ${b}` : `M${a} 0C${a} ${-c} ${b} ${-c} ${b} 0`;
  };
  const draw = () => {
    if (!last || !words.length || !node.offsetWidth) return;
    const { map, token } = last;
    const down = words.length > 1 && words[1].offsetLeft <= words[0].offsetLeft;
    at = words.map((w) => (down ? w.offsetTop + w.offsetHeight / 2 : w.offsetLeft + w.offsetWidth / 2));
    const [width, height] = [node.scrollWidth, node.scrollHeight];
    const line = down ? Math.max(...words.map((w) => w.offsetLeft + w.offsetWidth)) + 4 : words[0].offsetTop - 2;
    const room = (down ? width - line : line) * 1.3 - 8;
    const path = (from, to, weight, own) =>
      svg("path", {
        d: bend(at[from], at[to], room, down),
        style: `stroke:var(--attn-${own ? 1 : 0});stroke-width:${(6 * weight).toFixed(2)};opacity:${own ? 0.9 : 0.25}`,
      });
    const shown = [];
    map.forEach((row, i) =>
      row.forEach((weight, j) => {
        if (weight >= (i === token ? 0.02 : map.length > FEW ? 2 : FAINT)) shown.push([i === token, path(i, j, weight, i === token)]);
      }),
    );
    shown.sort(([a], [b]) => a - b);
    const place = down ? `translate(${line} 0)` : `translate(0 ${line})`;
    change(lines, { viewBox: `0 0 ${width} ${height}` });
    lines.style.cssText = `width:${width}px;height:${height}px`;
    lines.replaceChildren(svg("g", { transform: place, fill: "none" }, ...shown.map(([, p]) => p)));
  };
  new ResizeObserver(draw).observe(node);

  return {
    node,
    paint(pieces, map, token) {
      if (shape !== pieces.join(" ")) {
        words = pieces.map(word);
        shape = pieces.join(" ");
        list.replaceChildren(...words);
      }
      words.forEach((button, i) => {
        change(button, { tabindex: i === token ? 0 : -1, "aria-pressed": String(i === token) });
        button.style.background = tint(map[token][i], 1);
      });
      last = { map, token };
      draw();
    },
  };
};

// Waits for start.js, which brings window.attnlabModel. Nothing is asked for before.
const starter = () =>
  window.attnlabModel
    ? Promise.resolve()
    : new Promise((onload, failed) => {
        const src = `${document.documentElement.dataset.content_root ?? ""}model/int8-64/start.js`;
        const tag = el("script", { src, onload, onerror: () => failed(Error("start.js is missing")) });
        document.head.append(tag);
      });

// The weights of all heads, one after the other, as lists of lists.
const nested = (flat, ...shape) => {
  const [n, ...rest] = shape;
  if (!rest.length) return flat;
  const size = flat.length / n;
  return Array.from({ length: n }, (_, i) => nested(flat.subarray(i * size, (i + 1) * size), ...rest));
};

// What the worker answers, as `_reading` has it. Two of them are compared by their numbers alone.
let answers = 0;
const taken = ({ pieces, maps, alike, ...rest }, question) => {
  const [S, number] = [pieces.length, ++answers];
  return {
    ...question,
    ...rest,
    pieces: pieces.join(" "),
    maps: nested(maps, 6, 12, S, S),
    alike: nested(alike, 7, S, alike.length / (7 * S)),
    toJSON: () => number,
  };
};

// The reader's own sentence, in `asked`: a field, and the button that loads the model. Without a
// kernel the page computes; with one, Python does when a trait changes. `want()` gives the question
// that the figure's state asks for, or null; `take(answer)` puts the answer in.
export const reader = (ui, { asked, want, take, typed }) => {
  let [state, busy] = ["", false]; // "", loading, stopped, ready, kernel
  const said = el("span", { role: "status" });
  const bar = el("progress", { value: 0, "aria-label": "Loading the model" });
  const field = el("input", { type: "text", disabled: true, value: asked, autocomplete: "off" });
  field.oninput = () => {
    typed();
    ui.put("asked", field.value.trim().slice(0, MOST_LETTERS + 1)); // one more says that it was cut
  };
  const become = (next, words) => {
    state = next;
    field.disabled = state !== "ready" && state !== "kernel";
    bar.hidden = state !== "loading";
    button.textContent =
      { loading: "Cancel", ready: "The model is loaded" }[state] ?? `Load the model, ${SIZE} MB`;
    button.disabled = state === "ready";
    said.textContent = words;
  };
  const fail = (error) =>
    become("", `The model cannot be read (${error.message}). The sentences in the list still work.`);
  const limits = ({ left, text, pieces }) =>
    [
      text.length > MOST_LETTERS && `Only ${MOST_LETTERS} characters are read.`,
      left && `Only 62 word pieces are read: ${left} are left out.`,
      / \[UNK\] /.test(pieces) && "[UNK] stands for what the model does not know.",
    ]
      .filter(Boolean)
      .join(" ");
  // Of what is asked while the worker computes, only the newest is answered.
  const read = async () => {
    if (busy || state !== "ready") return;
    busy = true;
    try {
      for (let question; (question = want()); ) {
        const text = question.text.slice(0, MOST_LETTERS);
        take(taken(await window.attnlabModel.read({ ...question, text }), question));
      }
    } catch (error) {
      fail(error);
    }
    busy = false;
  };
  const load = async () => {
    if (state === "loading") {
      window.attnlabModel?.stop();
      return become("stopped", "Stopped. What is here already stays.");
    }
    become("loading", "");
    try {
      await starter();
      if (state !== "loading") return;
      const done = await window.attnlabModel.load((share) => (bar.value = share));
      if (!done || state !== "loading") return;
      become("ready", "Loaded. Now type.");
      if (!field.value) field.focus({ preventScroll: true });
      read();
    } catch (error) {
      fail(error);
    }
  };
  const button = ui.button("", load);
  become("", asked && "This link brings a sentence of its own: load the model to read it.");
  const node = el(
    "div",
    { class: "attn-own" },
    el("div", { class: "attn-control" }, el("label", {}, el("span", {}, "Your own sentence"), field)),
    el("div", { class: "attn-buttons" }, button, bar, said),
  );
  return {
    node,
    // In a notebook there is nothing to load.
    follow(own) {
      if (!state && !node.closest(".figure-mount")) {
        become("kernel", "");
        button.hidden = true;
      }
      const words = own.text === ui.get("asked") && own.pieces ? limits(own) : null;
      if (words !== null && !field.disabled && said.textContent !== words) said.textContent = words;
      read();
    },
  };
};
