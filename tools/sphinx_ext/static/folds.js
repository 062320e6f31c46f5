// A fold that an address leads to unfolds.
(() => {
  function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.matches("details")) target.open = true;
  }
  addEventListener("hashchange", unfold);
  unfold();
})();
