// What is wider than the page scrolls in itself: here it gets into the tab order, so that the arrow
// keys can scroll it.
(() => {
  const wide = ".math .katex-display, .cell_output, .highlight pre, .pst-scrollable-table-container";
  function mark() {
    const tags = [...document.querySelectorAll(wide)];
    const scroll = tags.map((tag) => tag.scrollWidth > tag.clientWidth);
    tags.forEach((tag, i) => {
      if (scroll[i]) tag.tabIndex = 0;
      else tag.removeAttribute("tabindex");
    });
  }
  window.addEventListener("load", () => document.fonts.ready.then(mark));
  window.addEventListener("resize", mark);
})();
