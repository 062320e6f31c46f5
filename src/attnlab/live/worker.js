// The worker: keeps what the page sends it, and answers a text with its pieces and weights, or with
// the names of the parts of the table of words that it has yet to be sent.
const kept = { layers: [], words: new Map() };
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

const answer = (text) => {
  const found = cut(text);
  const parts = new Set(found.ids.map((id) => Math.floor(id / PART)));
  const missing = [...parts].filter((part) => !kept.words.has(part)).map((part) => `words-${part}`);
  return missing.length ? { missing } : { ...found, maps: encode(kept, found.ids) };
};

globalThis.onmessage = ({ data: { name, base64, text, number } }) => {
  try {
    if (name) keep(name, bytesOf(base64));
    const result = name ? {} : answer(text);
    postMessage({ number, ...result }, result.maps ? [result.maps.buffer] : []);
  } catch (error) {
    postMessage({ number, error: error.message });
  }
};
