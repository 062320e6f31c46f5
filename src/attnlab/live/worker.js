// The worker: keeps what the page sends it, and answers a question or names the parts of the table
// of words that it has yet to be sent.
const kept = { layers: [], words: new Map() };
const known = new Map(); // text: what the whole network makes of it; the latest few
const MOST_KNOWN = 12;
let cut = null;

const bytesOf = (base64) => {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
};

const keep = (name, bytes) => {
  const [kind, i] = name.split("-");
  if (kind === "vocabulary") cut = tokenizer(new TextDecoder().decode(bytes).split("\n"));
  else if (kind === "places") kept.places = readPlaces(bytes);
  else if (kind === "layer") kept.layers[i] = readLayer(bytes);
  else kept.words.set(Number(i), readWords(bytes));
};

// What the whole network makes of a text, with its vectors at length 1.
const whole = (text, pieces) => {
  const found = known.get(text) ?? { ...pieces, ...encode(kept, pieces.ids) };
  found.units ??= found.hidden.map(unit);
  known.delete(text);
  known.set(text, found);
  if (known.size > MOST_KNOWN) known.delete(known.keys().next().value);
  return found;
};

const thousandths = (maps) => Uint16Array.from(maps, (weight) => Math.round(1000 * weight));

// Of a text: its pieces and weights, the cosines of its words with each other and with those of
// `texts`, and, if heads are `off` (their places), what is left.
const answer = ({ text, texts = [], off = [], exact = false }) => {
  const pieces = [text, ...texts].map((each) => cut(each));
  const parts = new Set(pieces.flatMap(({ ids }) => ids.map((id) => Math.floor(id / PART))));
  const missing = [...parts].filter((part) => !kept.words.has(part)).map((part) => `words-${part}`);
  if (missing.length) return { missing };
  const others = texts.map((each, i) => whole(each, pieces[i + 1]).units);
  const found = whole(text, pieces[0]);
  const after = off.length ? encode(kept, found.ids, new Set(off)) : found;
  return {
    ...pieces[0],
    maps: exact ? after.maps : thousandths(after.maps),
    alike: cosines(found.units, others),
    ...(off.length ? change(found.hidden.at(-1), after.hidden.at(-1)) : {}),
  };
};

globalThis.onmessage = ({ data: { name, bytes, base64, number, ...question } }) => {
  try {
    if (name) keep(name, bytes ? new Uint8Array(bytes) : bytesOf(base64));
    const result = name ? {} : answer(question);
    postMessage({ number, ...result });
  } catch (error) {
    postMessage({ number, error: error.message });
  }
};
