// What HeadsOverview computes: the twins of the functions in heads_overview.py.
import { entropy, sum } from "./shared.js";

export const HEADS = 12;
export const VIEWS = ["where it reads", "heads like it", "word vectors", "heads switched off"];
const BARS = 8; // of the nearest heads or words

const mean = (xs) => sum(xs) / xs.length;
// The mean over places 0 ... n - 1 of a map of whole thousandths, but for one of them.
const average = (n, value, but = -1) => {
  let total = 0;
  for (let i = 0; i < n; i++) if (i !== but) total += value(i);
  return total / (n - (but >= 0)) / 1000;
};
// Mean weight on the key at this place, over all other queries
const delimiter = (map, S, place) => average(S, (i) => map[i][place], place);
// Mean weight on the key so far to the right, over the queries that have it
const neighbour = (map, S, offset) =>
  average(S - Math.abs(offset), (i) => map[i + Math.max(0, -offset)][i + Math.max(0, offset)]);
const PARTS = Float64Array.from({ length: 1001 }, (_, w) => entropy([w / 1000]));

export const SCORES = {
  "[CLS]": (map, S) => delimiter(map, S, 0),
  "[SEP]": (map, S) => delimiter(map, S, S - 1),
  "previous token": (map, S) => neighbour(map, S, -1),
  "next token": (map, S) => neighbour(map, S, 1),
  itself: (map, S) => neighbour(map, S, 0),
  uniformity(map, S) {
    let total = 0;
    for (let i = 0; i < S; i++) for (let j = 0; j < S; j++) total += PARTS[map[i][j]];
    return total / S / Math.log(S);
  },
};

export const nameOf = (place) => `${Math.floor(place / HEADS) + 1}-${(place % HEADS) + 1}`;
// The places of the heads that are off.
export const placesOf = (off) => {
  const named = [...off.matchAll(/\b([1-6])-(1[0-2]|[1-9])\b/g)];
  return [...new Set(named.map(([, layer, head]) => HEADS * (layer - 1) + +head - 1))].sort((a, b) => a - b);
};
// The share of weight that two maps have on the same keys.
const inCommon = (one, other) =>
  mean(one.map((row, i) => row.reduce((total, w, j) => total + Math.min(w, other[i][j]), 0)));
// Places by value, the largest first.
export const order = (values) => {
  const rounded = values.map((value) => Math.round(1e9 * value));
  return [...values.keys()].sort((a, b) => rounded[b] - rounded[a] || a - b);
};

// Which sentence is shown, its pieces, and the whole network's weights.
export const chosen = ({ sentence, sentences, maps, own }) => {
  const place = Math.min(sentence, sentences.length - (own.pieces ? 0 : 1));
  return place < sentences.length
    ? { place, text: sentences[place], heads: maps[place] }
    : { place, text: own.pieces, heads: own.maps };
};
// What is left of the network, or null.
export const remaining = ({ off, left }, { text }) =>
  left.pieces === text && `${left.off}` === `${placesOf(off)}` ? left : null;

// A map without its padding, from thousandths.
export const weights = (map, S) => Array.from({ length: S }, (_, i) => Array.from({ length: S }, (_, j) => map[i][j] / 1000));
export const every = (heads, S) => heads.map((map) => weights(map, S));

export const like = ({ layer, head, sentences, maps: listed }, all) => {
  const place = HEADS * (layer - 1) + head - 1;
  const common = all.map((map) => inCommon(all[place], map));
  const everywhere = common.map(() => 0);
  sentences.forEach((text, i) => {
    const others = every(listed[i].flat(), text.split(" ").length);
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

export const vectors = ({ sentences, alike, own, after }, { place }, pieces, token) => {
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
      return alike[after / 3][a * N - (a * (a - 1)) / 2 + b - a] / 100;
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

export const without = (grid, after, before, left, pieces) => {
  const same = { grid, labels: pieces, values: pieces.map(() => 1), cosine: 1, moved: ["", 0] };
  if (!left) return same;
  const [whole, all] = [before, after].map((heads) => every(heads, pieces.length));
  const moved = whole.map((map, i) => 1 - inCommon(map, all[i]));
  const [most] = order(moved);
  return { ...same, values: left.words, cosine: left.sentence, moved: [nameOf(most), moved[most]] };
};
