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

  async function start() {
    await load("requirejs/require.js");
    require.config({ paths: { anywidget: `${vendor}anywidget/index` } });
    await load("html-manager/embed-amd.js");
  }

  if (document.readyState === "complete") start();
  else window.addEventListener("load", start);
})();
