// Mounts the page's figures: each place holds its traits as JSON, and figureModules the text of
// each module. A module sees anywidget's model, whose other side here is the page alone.
(() => {
  class Model {
    #traits;
    #listeners = new Map(); // name of an event: set of callbacks

    constructor(traits) {
      this.#traits = traits;
    }

    get(name) {
      return this.#traits[name];
    }

    set(name, value) {
      const before = this.#traits[name];
      this.#traits[name] = value;
      if (JSON.stringify(before) === JSON.stringify(value)) return;
      this.#tell(`change:${name}`, value);
      this.#tell("change");
    }

    on(events, callback) {
      for (const event of events.split(" "))
        this.#listeners.set(event, (this.#listeners.get(event) ?? new Set()).add(callback));
    }

    // Without a callback all of an event's go, and without an event those of all events.
    off(events, callback) {
      for (const event of events?.split(" ") ?? [...this.#listeners.keys()])
        if (callback) this.#listeners.get(event)?.delete(callback);
        else this.#listeners.delete(event);
    }

    save_changes() {} // no kernel listens

    #tell(event, ...details) {
      for (const callback of [...(this.#listeners.get(event) ?? [])]) callback(this, ...details);
    }
  }

  // The widget of each module, loaded when its first figure wants it, with its style sheet.
  const loaded = new Map();
  const sheets = new Set();
  const load = (name) => {
    if (!loaded.has(name)) {
      const { esm, css } = figureModules[name];
      if (!sheets.has(css)) {
        const sheet = document.createElement("style");
        sheet.textContent = css;
        document.head.append(sheet);
        sheets.add(css);
      }
      const text = `${esm}\n//# sourceURL=figures/${name}.mjs`;
      const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      loaded.set(
        name,
        import(address).then(({ default: widget }) =>
          typeof widget === "function" ? widget() : widget,
        ),
      );
    }
    return loaded.get(name);
  };

  const waiting = new Set(document.querySelectorAll(".figure-mount"));
  async function mount(place) {
    if (!waiting.delete(place)) return;
    try {
      const widget = await load(place.dataset.module);
      const model = new Model(JSON.parse(place.firstElementChild.textContent));
      const el = document.createElement("div");
      place.append(el);
      await widget.initialize?.({ model });
      await widget.render?.({ model, el });
    } catch (error) {
      place.remove(); // the picture takes its place
      console.error(`The figure ${place.dataset.module} stays a picture:`, error);
    }
  }

  // Those that are near first, then one after the other, with a pause for whatever else there is.
  const near = new IntersectionObserver(
    (entries) => entries.forEach((entry) => entry.isIntersecting && mount(entry.target)),
    { rootMargin: "100% 0px" },
  );
  for (const place of waiting) near.observe(place);
  const next = async () => {
    const [place] = waiting;
    if (!place) return;
    await mount(place);
    setTimeout(next);
  };
  setTimeout(next);
})();
