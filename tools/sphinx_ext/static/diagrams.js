// Draws each `pre.mermaid` of the page in the page's theme, and again when the theme changes.
// Where Mermaid does not load or a diagram is wrong, the diagram's text stays readable.
(() => {
  const root = document.documentElement;
  const diagrams = [...document.querySelectorAll("pre.mermaid")].map((element) => ({
    element,
    text: element.textContent,
  }));

  function settings() {
    const style = getComputedStyle(document.body);
    const colour = (name) => style.getPropertyValue(`--pst-color-${name}`).trim();
    return {
      startOnLoad: false,
      theme: "base",
      themeVariables: {
        darkMode: root.dataset.theme === "dark",
        background: colour("background"),
        primaryColor: colour("surface"),
        primaryTextColor: colour("text-base"),
        primaryBorderColor: colour("border"),
        lineColor: colour("text-muted"),
      },
      fontFamily: style.fontFamily,
      flowchart: { nodeSpacing: 30, rankSpacing: 28, padding: 10, wrappingWidth: 260 },
    };
  }

  async function draw() {
    mermaid.initialize(settings());
    for (const [index, { element, text }] of diagrams.entries()) {
      const { svg } = await mermaid.render(`diagram-${index}`, text);
      element.innerHTML = svg;
      element.classList.add("drawn");
    }
  }

  // One drawing at a time: Mermaid's settings are shared by the whole page.
  let drawing = Promise.resolve();
  const redraw = () => {
    for (const { element } of diagrams) element.classList.remove("drawn");
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
