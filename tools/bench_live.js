// Runs in the page before its own scripts: types, and times the page's answer.
window.live = {
  // Milliseconds from the key press until the words and their maps are painted; `count` words are
  // expected.
  type: (text, count) =>
    new Promise((resolve) => {
      const root = document.querySelector(".attn-live:has(.attn-wall)");
      const [field, last] = [root.querySelector("input[type=text]"), text.split(" ").at(-1)];
      const start = performance.now();
      field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
      const look = () => {
        const words = root.querySelectorAll(".attn-words button");
        const there = words.length === count && words[count - 2].textContent === last;
        const painted = [...root.querySelectorAll(".attn-wall canvas")].at(-1)?.width === count;
        requestAnimationFrame(there && painted ? () => resolve(performance.now() - start) : look);
      };
      look();
    }),
};
