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

  // A figure's state stands in the address once it was moved, so that a copied link opens it:
  // #Name:{"trait":value}, the traits that differ from the page's own. Data that no control sets
  // (arrays and objects) are left out, and what is of another kind than the page's is not taken.
  const plain = (value) => typeof value !== "object";
  const asked = (name) => {
    try {
      const text = decodeURIComponent(location.hash);
      return text.startsWith(`#${name}:`) ? JSON.parse(text.slice(name.length + 2)) : null;
    } catch {
      return null; // a link that somebody cut
    }
  };
  const share = (name, model, traits) => {
    let later = 0;
    const write = () => {
      const moved = Object.entries(traits).filter(
        ([trait, value]) => plain(value) && model.get(trait) !== value,
      );
      const state = Object.fromEntries(moved.map(([trait]) => [trait, model.get(trait)]));
      const text = encodeURIComponent(JSON.stringify(state));
      history.replaceState(history.state, "", `#${name}:${text}`);
    };
    model.on("change", () => {
      clearTimeout(later); // browsers allow few changes of the address a second
      later = setTimeout(write, 300);
    });
  };

  const waiting = new Set(document.querySelectorAll(".figure-mount"));
  async function mount(place) {
    if (!waiting.delete(place)) return;
    try {
      const widget = await load(place.dataset.module);
      const { module: name } = place.dataset;
      const traits = JSON.parse(place.firstElementChild.textContent);
      const wanted = asked(name);
      const taken = Object.entries(wanted ?? {}).filter(
        ([trait, value]) => plain(traits[trait]) && typeof traits[trait] === typeof value,
      );
      const model = new Model({ ...traits, ...Object.fromEntries(taken) });
      share(name, model, traits);
      if (wanted) place.scrollIntoView({ block: "center" });
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
