// Runs the worker's program on texts; for each it writes the ids and the weights, as float32.
import { readFileSync, writeFileSync } from "node:fs";

const [folder, texts, out] = process.argv.slice(2);
const answers = [];
globalThis.postMessage = (answer) => answers.push(answer);
(0, eval)(readFileSync(`${folder}/program.js`, "utf8"));

let files = 0;
const ask = (question) => {
  globalThis.onmessage({ data: question });
  const { error, ...found } = answers.pop();
  if (error) throw Error(error);
  return found;
};
globalThis.attnlabShard = (name, base64) => (ask({ name, base64 }), files++);
const load = (name) => (0, eval)(readFileSync(`${folder}/${name}.js`, "utf8"));
for (const name of ["vocabulary", "places", ...[0, 1, 2, 3, 4, 5].map((i) => `layer-${i}`)]) load(name);

const said = JSON.parse(readFileSync(texts, "utf8")).map((text, i) => {
  for (;;) {
    const start = performance.now();
    const { missing, maps, alike, ...found } = ask({ text, exact: true });
    missing?.forEach(load);
    if (missing) continue;
    const took = performance.now() - start;
    writeFileSync(`${out}/${i}.f32`, maps);
    return { ...found, took };
  }
});
writeFileSync(`${out}/said.json`, JSON.stringify(said));
console.log(`${files} files`);
