// Draws each `pre.mermaid` of the page in the page's theme, and again when the theme changes.
// Where Mermaid does not load or a diagram is wrong, the diagram's text stays readable.
(() => {
  const root = document.documentElement;
  const diagrams = [...document.querySelectorAll("pre.mermaid")].map((element) => ({
    element,
    text: element.textContent,
  }));

  async function draw() {
    const dark = root.dataset.theme === "dark";
    mermaid.initialize({ startOnLoad: false, theme: dark ? "dark" : "neutral", fontFamily: "inherit" });
    for (const [index, { element, text }] of diagrams.entries()) {
      const { svg } = await mermaid.render(`diagram-${index}`, text);
      element.innerHTML = svg;
      element.classList.add("drawn");
    }
  }

  // One drawing at a time: Mermaid's settings are shared by the whole page.
  let drawing = Promise.resolve();
  const redraw = () => {
    drawing = drawing.then(draw).catch((error) => console.error("A diagram stays text:", error));
  };

  const script = document.createElement("script");
  script.src = `${root.dataset.content_root}vendor/mermaid/mermaid.min.js`;
  script.onload = () => {
    redraw();
    new MutationObserver(redraw).observe(root, { attributeFilter: ["data-theme"] });
  };
  document.head.append(script);
})();
