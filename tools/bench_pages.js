// Runs in a page before its own scripts and notes, in seconds from the start, when the first equation
// and the first figure are there, and how far the layout shifts.
window.watch = (() => {
  const seen = { equation: null, figure: null, shift: 0 };
  const add = ({ value, hadRecentInput }) => (seen.shift += hadRecentInput ? 0 : value);
  const shifts = new PerformanceObserver((list) => list.getEntries().forEach(add));
  shifts.observe({ type: "layout-shift", buffered: true });

  const there = {
    // A formula is typeset once its font is there.
    equation: () =>
      document.querySelector("article .katex") &&
      [...document.fonts].some((font) => font.family.includes("KaTeX") && font.status === "loaded"),
    figure: () => document.querySelector("article .attn-live"),
  };
  let changed = 0; // when something happened for the last time
  const look = (now) => {
    for (const [name, is_there] of Object.entries(there))
      if (seen[name] === null && is_there()) [seen[name], changed] = [now / 1000, now];
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);

  // All that the page shows is there, and for two seconds nothing else came.
  const settled = () => {
    const last = Math.max(changed, ...performance.getEntriesByType("resource").map((r) => r.responseEnd));
    const empty = document.querySelector(".figure-mount:not(:has(.attn-live))");
    return document.readyState === "complete" && !empty && performance.now() - last > 2000;
  };
  return { seen, settled };
})();
