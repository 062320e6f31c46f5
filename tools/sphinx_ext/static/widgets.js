// Brings the page's widgets to life without a kernel, late: the widget manager weighs 3.6 MB.
(() => {
  const vendor = `${document.documentElement.dataset.content_root}vendor/`;

  const load = (path) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = vendor + path;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });

  // The widget manager typesets labels with MathJax 2; this is the part of it that it calls.
  function offerMathJax2() {
    if (!window.MathJax?.typesetPromise) return;
    const typeset = (element) => MathJax.startup.promise.then(() => MathJax.typesetPromise([element]));
    MathJax.Hub = { Queue: ([, , element]) => typeset(element) };
  }

  async function start() {
    offerMathJax2();
    await load("requirejs/require.js");
    require.config({ paths: { anywidget: `${vendor}anywidget/index` } });
    await load("html-manager/embed-amd.js");
  }

  if (document.readyState === "complete") start();
  else window.addEventListener("load", start);
})();
