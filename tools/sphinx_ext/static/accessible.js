// What is wider than the page scrolls in itself: here it gets into the tab order, so that the arrow
// keys can scroll it.
(() => {
  const wide = ".math mjx-container, .cell_output, .highlight pre, .pst-scrollable-table-container";
  function mark() {
    for (const tag of document.querySelectorAll(wide)) {
      const scrolls = tag.scrollWidth > tag.clientWidth;
      if (scrolls) tag.tabIndex = 0;
      else tag.removeAttribute("tabindex");
    }
  }
  window.addEventListener("load", () => {
    mark();
    window.MathJax?.startup?.promise.then(mark);
  });
  window.addEventListener("resize", mark);
})();
