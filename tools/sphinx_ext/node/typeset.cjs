// Typesets mathematics: reads a line {"tex": ..., "display": ...} and writes a line {"html": ...}
// or {"error": ...}, until its input ends.
const { createInterface } = require("node:readline");
const katex = require("../../../_build/vendor/node/katex/katex.min.js");

// KaTeX writes an attribute without a value where a table has one column; Firefox complains of it.
const EMPTY = / columnspacing=""/g;

// Letters that mean one thing throughout the book get the class of what they mean. A small one may
// be an index or a size, so it counts only beside others in a formula with q or k_j, never as a
// subscript or in a named operator; O is an output unless it is the O of a cost.
const MEANING = { Q: "query", K: "key", V: "value", O: "output", q: "query", k: "key", v: "value" };
const LETTERS = /\\(?:text|mathrm|operatorname|begin|end|label|tag)\*?\{[^}]*\}|\\[a-zA-Z]+|_\{[^{}]*\}|_.|[A-Za-z]/g;
const SPEAKS_OF_VECTORS = /(?<![_{\\A-Za-z])q(?![A-Za-z}])[^$]*[=k\\]|(?<![A-Za-z])[kv]_j/;
const coloured = (tex) =>
  tex.replace(LETTERS, (found, at) => {
    const rest = tex.slice(at + found.length);
    const small = /^[a-z]$/.test(found) && !(SPEAKS_OF_VECTORS.test(tex) && !rest.startsWith("_a"));
    const cost = found === "O" && /^\s*(\\!)?(\\left)?\(/.test(rest);
    return !MEANING[found] || small || cost ? found : `{\\htmlClass{${MEANING[found]}}{${found}}}`;
  });

const options = {
  trust: ({ command }) => command === "\\htmlClass",
  strict: (kind) => (kind === "htmlExtension" ? "ignore" : "error"),
};
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
// What a reader copies is the TeX as it was written.
const SOURCE = /(<annotation encoding="application\/x-tex">)[^<]*(?=<\/annotation>)/;
const typeset = ({ tex, display }) => {
  try {
    const html = katex.renderToString(coloured(tex), { displayMode: display, ...options });
    return { html: html.replace(EMPTY, "").replace(SOURCE, (_, start) => start + escaped(tex)) };
  } catch (error) {
    return { error: error.message };
  }
};

createInterface({ input: process.stdin }).on("line", (line) => {
  process.stdout.write(`${JSON.stringify(typeset(JSON.parse(line)))}\n`);
});
