// What is wider than the page scrolls in itself: here it gets into the tab order, so that the arrow
// keys can scroll it. A fold that opens and a font that arrives change what is too wide.
(() => {
  const wide = ".math .katex-display, .cell_output, .highlight pre, .pst-scrollable-table-container";
  function mark(tags) {
    const scroll = tags.map((tag) => tag.scrollWidth > tag.clientWidth);
    tags.forEach((tag, i) => {
      if (scroll[i]) tag.tabIndex = 0;
      else tag.removeAttribute("tabindex");
    });
  }
  const all = () => mark([...document.querySelectorAll(wide)]);
  window.addEventListener("load", () => document.fonts.ready.then(all));
  document.fonts.addEventListener("loadingdone", all);
  window.addEventListener("load", () => {
    const sizes = new ResizeObserver((changed) => mark(changed.map((entry) => entry.target)));
    document.querySelectorAll(wide).forEach((tag) => sizes.observe(tag));
  });
})();
