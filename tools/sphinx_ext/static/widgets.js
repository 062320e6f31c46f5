// Brings the page's widgets to life without a kernel, late: the widget manager weighs 3.6 MB.
(() => {
  const vendor = `${document.documentElement.dataset.content_root}vendor/`;
  const views = document.querySelectorAll('script[type="application/vnd.jupyter.widget-view+json"]');

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

  let started = false;
  async function start() {
    if (started) return;
    started = true;
    offerMathJax2();
    await load("requirejs/require.js");
    require.config({ paths: { anywidget: `${vendor}anywidget/index` } });
    await load("html-manager/embed-amd.js");
  }

  // Once a widget is near, or the browser has nothing else to do.
  function wait() {
    const near = (entries) => entries.some((entry) => entry.isIntersecting) && start();
    const observer = new IntersectionObserver(near, { rootMargin: "100% 0px" });
    for (const view of views) observer.observe(view.parentElement);
    (window.requestIdleCallback ?? ((call) => setTimeout(call, 2000)))(start);
  }

  if (document.readyState === "complete") wait();
  else window.addEventListener("load", wait);
})();
