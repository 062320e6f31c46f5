// The page of the search. Opened from disk a page may not read another one, and so cannot show
// excerpts of what it found. Elsewhere an excerpt shows each formula once, as a line of text, and no folded
// code.
(() => {
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  const plain = Search.htmlToText;

  // A function's whole name finds its docstring first; part of one never stands before the text.
  Scorer.objPrio = { 0: 0, 1: 0, 2: 0 };
  Scorer.objPartialMatch = 0;

  // What is longer than a name or a number gets brackets.
  const whole = (text) => (/^[\p{L}\p{N}⊤′.]*$/u.test(text) ? text : `(${text})`);
  const raised = (text) => (/^[⊤′]$/.test(text) ? text : `^${whole(text)}`);
  const lines = {
    mfrac: ([over, under]) => `${whole(over)}/${whole(under)}`,
    msqrt: (parts) => `√${whole(parts.join(""))}`,
    msub: ([base, low]) => `${base}_${whole(low)}`,
    msup: ([base, high]) => `${base}${raised(high)}`,
    msubsup: ([base, low, high]) => `${base}_${whole(low)}${raised(high)}`,
    mtr: (parts) => `${parts.join(" ")}; `,
  };
  lines.munder = lines.msub;
  lines.munderover = lines.msubsup;

  // Writes an element of MathML in a line.
  function line(tag) {
    if (tag.localName === "annotation") return "";
    if (tag.children.length === 0) return tag.textContent.replace(/[\u2061-\u2064\u200b]/g, "");
    const parts = [...tag.children].map(line);
    return lines[tag.localName]?.(parts) ?? parts.join("");
  }

  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const unseen = ".katex-html, .attn-still svg, details .cell_input";
    for (const tag of page.querySelectorAll(unseen)) tag.remove();
    for (const math of page.querySelectorAll("math")) math.replaceWith(line(math));
    return plain(page.documentElement.outerHTML, anchor);
  };
})();
