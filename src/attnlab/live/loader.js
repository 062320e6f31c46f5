// start.js of the model: window.attnlabModel loads it and answers questions with it. What stands in
// quotes and capitals is put in: the text of the worker, and the bytes of each file that every text
// needs.
(() => {
  const home = document.currentScript.src.replace(/[^/]*$/, "");
  const sizes = "SIZES";
  const total = Object.values(sizes).reduce((a, b) => a + b);
  const waiting = new Map(); // number of a question: what its answer resolves and rejects
  const fetched = new Map(); // name of a file: the promise that the worker has it
  const failed = new Set(); // names of files that the browser must not take from its cache
  const handed = new Map(); // name of a script: what it handed over
  let [worker, count, stop] = [null, 0, null];

  const ask = (question, transfer = []) =>
    new Promise((resolve, reject) => {
      if (!worker) {
        const address = URL.createObjectURL(new Blob(["PROGRAM"], { type: "text/javascript" }));
        worker = new Worker(address);
        worker.onerror = () => reject(Error("the browser refuses a worker"));
        worker.onmessage = ({ data: { number, error, ...result } }) => {
          const [done, refuse] = waiting.get(number);
          waiting.delete(number);
          if (error) refuse(Error(error));
          else done(result);
        };
      }
      waiting.set(++count, [resolve, reject]);
      worker.postMessage({ ...question, number: count }, transfer);
    });

  // A page on disk may load scripts and nothing else.
  window.attnlabShard = (name, base64) => handed.set(name, base64);
  const script = (name) =>
    new Promise((resolve, reject) => {
      const tag = document.createElement("script");
      const end = () => {
        tag.remove();
        const base64 = handed.get(name);
        handed.delete(name);
        if (base64) resolve({ base64 });
        else reject(Error(`${name}.js is missing or broken`));
      };
      tag.onload = tag.onerror = end;
      tag.src = `${home}${name}.js`;
      document.head.append(tag);
    });

  const binary = async (name, { arrived, signal }) => {
    const cache = failed.has(name) ? "reload" : "force-cache";
    const missing = () => Error(`${name}.bin is missing`);
    const answer = await fetch(`${home}${name}.bin`, { cache, signal }).catch((error) => {
      throw signal?.aborted ? error : missing();
    });
    if (!answer.ok) throw missing();
    const [parts, stream] = [[], answer.body.getReader()];
    for (let bytes = 0; ; ) {
      const { done, value } = await stream.read();
      if (done) return { bytes: await new Blob(parts).arrayBuffer() };
      parts.push(value);
      arrived?.((bytes += value.length));
    }
  };

  const fetchOne = (name, options = {}) => {
    if (!fetched.has(name)) {
      const got = (home.startsWith("file:") ? script : binary)(name, options).then((data) =>
        ask({ name, ...data }, data.bytes ? [data.bytes] : []),
      );
      got.catch(() => (fetched.delete(name), failed.add(name))); // the next attempt asks again
      fetched.set(name, got);
    }
    return fetched.get(name);
  };

  window.attnlabModel = {
    // Loads what every text needs, and says how far it is; false if it was stopped.
    async load(progress) {
      const { signal } = (stop = new AbortController());
      let there = 0;
      for (const [name, size] of Object.entries(sizes)) {
        const arrived = (bytes) => progress(Math.min(1, (there + bytes) / total));
        arrived(0);
        try {
          await fetchOne(name, { arrived, signal });
        } catch (error) {
          if (!signal.aborted) throw error;
        }
        if (signal.aborted) return false;
        there += size;
      }
      progress(1);
      return true;
    },
    stop() {
      stop?.abort();
    },
    // Answers a question as worker.js says.
    async read(question) {
      for (;;) {
        const { missing, ...found } = await ask(question);
        if (!missing) return found;
        await Promise.all(missing.map((name) => fetchOne(name)));
      }
    },
  };
})();
