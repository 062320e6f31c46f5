// start.js of the model: window.attnlabModel loads it and reads texts with it. "PROGRAM" is the
// text of the worker.
(() => {
  const home = document.currentScript.src.replace(/[^/]*$/, "");
  const NAMES = ["vocabulary", "places", ...[0, 1, 2, 3, 4, 5].map((i) => `layer-${i}`)];
  const waiting = new Map(); // number of a question: what its answer resolves and rejects
  const fetched = new Map(); // name of a file: the promise that the worker has it
  let [worker, count, queue] = [null, 0, Promise.resolve()];

  const ask = (question) =>
    new Promise((resolve, reject) => {
      if (!worker) {
        const address = URL.createObjectURL(new Blob(["PROGRAM"], { type: "text/javascript" }));
        worker = new Worker(address);
        worker.onerror = () => reject(Error("the browser refuses a worker"));
        worker.onmessage = ({ data: { number, error, ...result } }) => {
          const [done, failed] = waiting.get(number);
          waiting.delete(number);
          if (error) failed(Error(error));
          else done(result);
        };
      }
      waiting.set(++count, [resolve, reject]);
      worker.postMessage({ ...question, number: count });
    });

  const shard = (name) =>
    new Promise((resolve, reject) => {
      const tag = document.createElement("script");
      let text = null;
      window.attnlabShard = (_, base64) => (text = base64);
      tag.onload = () => (text ? resolve(text) : reject(Error(`${name}.js is broken`)));
      tag.onerror = () => reject(Error(`${name}.js is missing`));
      tag.src = `${home}${name}.js`;
      document.head.append(tag);
      tag.onload = ((done) => () => (tag.remove(), done()))(tag.onload);
    });

  // One file after the other, so that there is always one to hand over to.
  const fetchOne = (name) => {
    if (!fetched.has(name)) {
      const got = queue.then(() => shard(name)).then((base64) => ask({ name, base64 }));
      queue = got.catch(() => fetched.delete(name)); // the next attempt asks again
      fetched.set(name, got);
    }
    return fetched.get(name);
  };

  window.attnlabModel = {
    // Loads what every text needs; `progress(share)` may return false to stop, and then the
    // result is false.
    async load(progress) {
      for (const [i, name] of NAMES.entries()) {
        if (progress(i / NAMES.length) === false) return false;
        await fetchOne(name);
      }
      return progress(1) !== false;
    },
    // The word pieces of a text, how many were left out, and the weights.
    async read(text) {
      for (;;) {
        const { missing, ...found } = await ask({ text });
        if (!missing) return found;
        for (const name of missing) await fetchOne(name);
      }
    },
  };
})();
