// Holds each figure's mathematics against what attnlab computed; test_mathematics.py runs it.
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

function same(found, wanted, place) {
  if (typeof wanted === "number") {
    const error = Math.abs(found - wanted);
    assert.ok(error <= 1e-9 * Math.max(1, Math.abs(wanted)), `${place}: ${found}, not ${wanted}`);
  } else if (wanted !== null && typeof wanted === "object") {
    assert.deepEqual(Object.keys(found).sort(), Object.keys(wanted).sort(), place);
    for (const key of Object.keys(wanted)) same(found[key], wanted[key], `${place}.${key}`);
  } else assert.strictEqual(found, wanted, place);
}

for (const { module, state, result, said } of JSON.parse(readFileSync(process.env.CASES))) {
  test(`${module} ${said}`, async () => {
    const { compute, describe } = await import(pathToFileURL(module));
    const found = compute(state);
    same(found, result, "result");
    assert.strictEqual(describe(state, found), said);
  });
}
