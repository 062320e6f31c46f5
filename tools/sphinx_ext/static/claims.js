// Filters the tables of claims by word, kind and standing to a paper. The address holds what is
// asked for, so that a filtered page can be sent; without a script all claims are shown.
(() => {
  const form = document.querySelector("form.claims-filter");
  const rows = [...document.querySelectorAll("table.claims.all tbody tr")];
  const sections = [...new Set(rows.map((row) => row.closest("section")))];
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const { q, kind, paper } = form.elements;

  function show() {
    const words = q.value.toLowerCase().split(/\s+/);
    const marks = [kind, paper].filter((field) => field.value);
    for (const row of rows)
      row.hidden = !(
        words.every((word) => texts.get(row).includes(word)) &&
        marks.every((field) => row.classList.contains(`${field.name}-${field.value}`))
      );
    for (const section of sections)
      section.hidden = !section.querySelector("tbody tr:not([hidden])");
    const shown = rows.filter((row) => !row.hidden).length;
    form.querySelector("output").textContent = `${shown} of ${rows.length} claims`;
  }

  function keep() {
    const address = new URL(location.href);
    for (const field of [q, kind, paper])
      if (field.value) address.searchParams.set(field.name, field.value);
      else address.searchParams.delete(field.name);
    address.hash = form.closest("section").id;
    history.replaceState(history.state, "", address);
  }

  const asked = new URL(location.href).searchParams;
  for (const field of [q, kind, paper]) field.value = asked.get(field.name) ?? "";
  for (const field of [kind, paper]) if (field.selectedIndex < 0) field.value = "";
  show();
  form.addEventListener("input", () => (show(), keep()));
  form.addEventListener("reset", () => setTimeout(() => (show(), keep())));
  form.addEventListener("submit", (event) => event.preventDefault());
})();
