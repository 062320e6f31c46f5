// The page of the search. Opened from disk a page may not read another one, and so cannot show
// excerpts of what it found. Elsewhere an excerpt shows each formula once, as a reader sees it.
(() => {
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  const plain = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const tag of page.querySelectorAll(".katex-html, annotation, .attn-still svg")) tag.remove();
    return plain(page.documentElement.outerHTML, anchor);
  };
})();
