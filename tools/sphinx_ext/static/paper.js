// Paper is white: a page that is read in the dark is printed in the light.
(() => {
  const root = document.documentElement;
  let theme = null;
  addEventListener("beforeprint", () => {
    theme ??= root.dataset.theme;
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    root.dataset.theme = theme;
    theme = null;
  });
})();
