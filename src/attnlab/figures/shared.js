// What all figures share. `bundle` in _base.py puts it in front of each figure's own script; here
// nothing touches the page before it is called, so that Node can test the mathematics.

// Numbers as text: the twins of `fixed` and `number` in _base.py.
export const fixed = (x, digits) =>
  x.toFixed(digits).replace(/^-(?=[0.]+$)/, "").replace("-", "−");

export const number = (x) => {
  if (x === 0 || Math.abs(x) >= 0.001) return fixed(x, 3);
  const [mantissa, exponent] = x.toExponential(1).replaceAll("-", "−").split("e");
  return `${mantissa} × 10${[...exponent].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("")}`;
};

// Mathematics
export const sum = (xs) => xs.reduce((a, b) => a + b, 0);
export const dot = (a, b) => sum(a.map((x, i) => x * b[i]));

// A row that is -Infinity throughout becomes zeros, as in attnlab.reference.
export const softmax = (scores) => {
  const top = Math.max(...scores);
  const parts = scores.map((s) => (s === -Infinity ? 0 : Math.exp(s - top)));
  const total = sum(parts) || 1;
  return parts.map((p) => p / total);
};

export const entropy = (weights) => -sum(weights.map((w) => (w > 0 ? w * Math.log(w) : 0)));

// Elements: `onclick` and the like listen, null and false leave an attribute out.
const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === null || value === false) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
};
export const el = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
export const change = (node, attributes) => fill(node, attributes, []);
// What stands side by side where there is room.
export const beside = (...nodes) => el("div", { class: "attn-row" }, ...nodes);

// A table of numbers as a heat map. With `press(i, j)` its cells are buttons, one of them in the
// tab order; arrow keys lead to the others. `paint` may change shape and labels at any time:
// rows, columns (labels), values, and optionally text(value, i, j), pressed(i, j), blocked(i, j),
// largest (the value in full colour), series (which hue).
export const grid = (caption, press = null) => {
  const table = el("table", { class: "attn-grid" });
  let cells = [];
  let shape = "";

  const move = (event, i, j) => {
    const [di, dj] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[
      event.key
    ] ?? [0, 0];
    const next = cells[i + di]?.[j + dj];
    if (!(di || dj) || !next) return;
    event.preventDefault();
    change(cells[i][j], { tabindex: -1 });
    change(next, { tabindex: 0 });
    next.focus();
  };
  const cell = (i, j, row, column) =>
    press
      ? el("button", {
          type: "button",
          "data-name": `${row}, ${column}`,
          tabindex: i || j ? -1 : 0,
          onclick: () => press(i, j),
          onkeydown: (event) => move(event, i, j),
        })
      : el("span");
  const build = (rows, columns) => {
    cells = rows.map((row, i) => columns.map((column, j) => cell(i, j, row, column)));
    const head = columns.map((column) => el("th", { scope: "col" }, column));
    const body = rows.map((row, i) =>
      el("tr", {}, el("th", { scope: "row" }, row), ...cells[i].map((c) => el("td", {}, c))),
    );
    table.replaceChildren(
      el("caption", {}, caption),
      el("thead", {}, el("tr", {}, el("td"), ...head)),
      el("tbody", {}, ...body),
    );
  };
  const paint = ({ rows, columns, values, text, pressed, blocked, largest = 1, series = 0 }) => {
    const now = JSON.stringify([rows, columns]);
    if (shape !== now) build(rows, columns);
    shape = now;
    values.forEach((row, i) =>
      row.forEach((value, j) => {
        const [node, off, words] = [cells[i][j], blocked?.(i, j), text?.(value, i, j) ?? ""];
        node.textContent = words;
        node.className = off ? "attn-off" : "";
        node.style.background = off ? "" : tint(value / largest, series);
        if (press)
          change(node, {
            "aria-label": `${node.dataset.name}${words ? `: ${words}` : ""}`,
            "aria-pressed": pressed ? String(Boolean(pressed(i, j))) : null,
          });
      }),
    );
  };
  return { node: table, paint };
};

// How high a paragraph would be with another text.
const heightOf = (text, paragraph) => {
  const copy = paragraph.cloneNode();
  change(copy, { "aria-live": null, "aria-hidden": true });
  copy.style.cssText = `position: absolute; visibility: hidden; width: ${paragraph.offsetWidth}px`;
  copy.textContent = text;
  paragraph.after(copy);
  const height = copy.offsetHeight;
  copy.remove();
  return height;
};

// A share of full colour: 0 is the bare page, and 1 is light enough to write on.
export const tint = (share, series = 0) =>
  `color-mix(in srgb, var(--attn-${series}) ${(60 * Math.min(1, Math.max(0, share))).toFixed(1)}%, transparent)`;

// Horizontal bars with their numbers, as a table.
export const bars = (caption, series = 0) => {
  const table = el("table", { class: "attn-bars" }, el("caption", {}, caption));
  const body = table.appendChild(el("tbody"));
  const paint = (labels, values, { largest = 1, text = (v) => fixed(v, 3) } = {}) => {
    while (body.rows.length > values.length) body.deleteRow(-1);
    while (body.rows.length < values.length)
      body.append(
        el("tr", {}, el("th", { scope: "row" }), el("td", {}, el("i"), el("span"))),
      );
    values.forEach((value, i) => {
      const [head, data] = body.rows[i].cells;
      head.textContent = labels[i];
      const share = Math.min(1, Math.max(0, value / largest));
      data.firstChild.style.cssText = `width:${(65 * share).toFixed(1)}%;background:var(--attn-${series})`;
      data.lastChild.textContent = text(value);
    });
  };
  return { node: table, paint };
};

// Controls: each shows one trait and sets it. They are native, so the keyboard reaches them.
const controls = (model, followers) => {
  const put = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const labelled = (label, input, ...rest) =>
    el("div", { class: "attn-control" }, el("label", {}, el("span", {}, label), input), ...rest);

  return {
    put,
    get: (name) => model.get(name),
    // A slider over a list of values, or over min ... max.
    range(name, { label, values = null, min = 0, max = values?.length - 1, step = 1, show = String }) {
      const value = () => (values ? values[input.value] : Number(input.value));
      const input = el("input", { type: "range", min, max, step, oninput: () => put(name, value()) });
      const shown = el("b", { "aria-hidden": "true" });
      followers.push((state) => {
        input.value = values ? values.indexOf(state[name]) : state[name];
        shown.textContent = show(state[name]);
        change(input, { "aria-valuetext": shown.textContent });
      });
      return labelled(label, input, shown);
    },
    // A list to choose from; `options` holds [value, text].
    choice(name, { label, options }) {
      const texts = options.map(([, text]) => el("option", {}, text));
      const input = el("select", { "aria-label": label, onchange: () => put(name, options[input.selectedIndex][0]) }, ...texts);
      followers.push((state) => {
        input.selectedIndex = options.findIndex(([value]) => value === state[name]);
      });
      return labelled(label, input);
    },
    toggle(name, { label }) {
      const input = el("input", { type: "checkbox", onchange: () => put(name, input.checked) });
      followers.push((state) => {
        input.checked = state[name];
      });
      return labelled(label, input);
    },
    button(text, press) {
      return el("button", { type: "button", class: "attn-button", onclick: press }, text);
    },
  };
};

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Makes a figure's `render`. traits: names of the traits that it shows. compute(state) and
// describe(state, result) are the twins of the Python methods. build(root, ui, state) puts the
// elements in and returns draw(state, result), which is called at most once a frame. longest(state)
// gives the longest text that the figure's own steps will say, so that its place is kept for it.
export const figure =
  ({ traits, compute, describe, build, longest = () => "" }) =>
  ({ model, el: host }) => {
    const followers = [];
    const root = el("div", {
      class: "attn-live",
      role: "group",
      "aria-label": model.get("title"),
      // JupyterLab leaves a control so marked its arrow keys.
      onfocusin: (event) => change(event.target, { "data-lm-suppress-shortcuts": true }),
    });
    const read = () => Object.fromEntries(traits.map((name) => [name, model.get(name)]));
    const draw = build(root, controls(model, followers), read());
    const said = root.appendChild(el("p", { class: "attn-said", "aria-live": "polite" }));
    let [frame, width] = [0, 0];
    const update = () => {
      frame = 0;
      const state = read();
      const result = compute(state);
      for (const follow of followers) follow(state);
      draw(state, result);
      const text = describe(state, result);
      if (text === said.textContent) return;
      said.textContent = text;
      // A line once taken stays, so that the page does not jump while a control moves.
      if (width !== said.offsetWidth) said.style.minHeight = "3lh";
      width = said.offsetWidth;
      said.style.minHeight = `max(3lh, ${said.offsetHeight}px, ${heightOf(longest(state), said)}px)`;
    };
    const later = () => {
      frame ||= requestAnimationFrame(update);
    };
    for (const name of traits) model.on(`change:${name}`, later);
    host.append(root);
    update();
    return () => {
      cancelAnimationFrame(frame);
      for (const name of traits) model.off(`change:${name}`, later);
    };
  };
