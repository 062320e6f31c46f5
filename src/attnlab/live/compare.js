// Vectors of words, compared by their cosines. `hidden` has (S, D) for each layer.
const unit = (vectors) => {
  const out = vectors.slice();
  for (let at = 0; at < out.length; at += D) {
    let square = 0;
    for (let k = at; k < at + D; k++) square += out[k] ** 2;
    const scale = 1 / Math.sqrt(square || 1);
    for (let k = at; k < at + D; k++) out[k] *= scale;
  }
  return out;
};

const along = (a, i, b, j) => {
  let total = 0;
  for (let k = 0; k < D; k++) total += a[i * D + k] * b[j * D + k];
  return total;
};

// The cosines of a text's words with its own and with those of other texts, after each layer:
// (layers + 1, S, S + those of the others), in hundredths.
const cosines = (units, others) => {
  const S = units[0].length / D;
  const parts = [units, ...others];
  const columns = parts.reduce((n, part) => n + part[0].length / D, 0);
  const out = new Int8Array(units.length * S * columns);
  let at = 0;
  for (let l = 0; l < units.length; l++)
    for (let i = 0; i < S; i++)
      for (const part of parts)
        for (let j = 0; j < part[l].length / D; j++)
          out[at++] = Math.round(100 * along(units[l], i, part[l], j));
  return out;
};

// What is left of a text's vectors when heads are off: the cosine of the sentence's vector, the sum
// of its words', with the whole network's, and those of the words.
const change = (whole, left) => {
  const S = whole.length / D;
  const total = (vectors) => {
    const out = new Float32Array(D);
    vectors.forEach((value, at) => (out[at % D] += value));
    return unit(out);
  };
  const [before, after] = [unit(whole), unit(left)];
  return {
    sentence: along(total(whole), 0, total(left), 0),
    words: Array.from({ length: S }, (_, i) => along(before, i, after, i)),
  };
};
