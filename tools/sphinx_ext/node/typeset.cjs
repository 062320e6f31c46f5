// Typesets mathematics: reads a line {"tex": ..., "display": ...} and writes a line {"html": ...}
// or {"error": ...}, until its input ends.
const { createInterface } = require("node:readline");
const katex = require("../../../_build/vendor/node/katex/katex.min.js");

// KaTeX writes an attribute without a value where a table has one column; Firefox complains of it.
const EMPTY = / columnspacing=""/g;

const typeset = ({ tex, display }) => {
  try {
    const html = katex.renderToString(tex, { displayMode: display, strict: "error" });
    return { html: html.replace(EMPTY, "") };
  } catch (error) {
    return { error: error.message };
  }
};

createInterface({ input: process.stdin }).on("line", (line) => {
  process.stdout.write(`${JSON.stringify(typeset(JSON.parse(line)))}\n`);
});
