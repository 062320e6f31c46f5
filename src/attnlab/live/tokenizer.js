// Cuts a text into MiniLM's word pieces, as the model's tokenizer.json says: BERT's normaliser
// (control characters out, Chinese characters apart, no accents, no capitals), words and
// punctuation apart, then the longest piece first.
const CLS = 101, SEP = 102, UNKNOWN = 100, MOST = 64, LONGEST = 100;
const SPECIAL = /(\[(?:PAD|UNK|CLS|SEP|MASK)\])/;
const CHINESE =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu;
// In ASCII all that is neither letter, digit nor control character; elsewhere Unicode's own.
const PUNCTUATION = /([!-/:-@[-`{-~]|\p{P})/u;

const normalise = (text) => {
  const clean = text
    .replace(/[\0\ufffd]|(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}]/gu, "")
    .replace(/\p{White_Space}/gu, " ")
    .replace(CHINESE, " $& ");
  const bare = clean.normalize("NFD").replace(/\p{Mn}/gu, "");
  return Array.from(bare, (letter) => letter.toLowerCase()).join(""); // one by one: no final sigma
};

const tokenizer = (words) => {
  const ids = new Map(words.map((word, id) => [word, id]));
  // The ids of a word's pieces; a word that no pieces make up is unknown as a whole.
  const cut = (word) => {
    const letters = [...word];
    if (letters.length > LONGEST) return [UNKNOWN];
    const found = [];
    for (let start = 0, end; start < letters.length; start = end) {
      const piece = (to) => ids.get((start ? "##" : "") + letters.slice(start, to).join(""));
      for (end = letters.length; end > start && piece(end) === undefined; ) end--;
      if (end === start) return [UNKNOWN];
      found.push(piece(end));
    }
    return found;
  };
  const split = (part) =>
    SPECIAL.test(part)
      ? [ids.get(part)]
      : normalise(part)
          .split(" ")
          .flatMap((word) => word.split(PUNCTUATION))
          .filter(Boolean)
          .flatMap(cut);
  // What does not fit in 64 pieces is left out; `left` counts it.
  return (text) => {
    const inner = text.split(SPECIAL).flatMap(split);
    const kept = [CLS, ...inner.slice(0, MOST - 2), SEP];
    return { ids: kept, pieces: kept.map((id) => words[id]), left: Math.max(0, inner.length - MOST + 2) };
  };
};
