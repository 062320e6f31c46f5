// MiniLM's forward pass. Weights stay int8 until they are used: four rows of a matrix at a time
// become float64, and meet all tokens before the next four.
const D = 384, HEADS = 12, WIDTH = 32, HIDDEN = 1536, BLOCK = 64, PART = 512, EPSILON = 1e-12;

// The value of a float16's bits.
const half = (bits) => {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  return exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction;
};

// Reads matrices and vectors from a file's bytes, one after the other.
const reader = (bytes) => {
  let at = 0;
  const take = (Kind, count) => {
    const end = at + count * Kind.BYTES_PER_ELEMENT;
    if (end > bytes.length) throw Error("a file of the model is too short");
    const found = new Kind(bytes.slice(at, end).buffer);
    at = end;
    return found;
  };
  return {
    matrix: (rows, columns) => ({
      rows,
      columns,
      whole: take(Int8Array, rows * columns),
      scales: Float64Array.from(take(Uint16Array, (rows * columns) / BLOCK), half),
    }),
    vector: (count) => Float64Array.from(take(Float32Array, count)),
    end() {
      if (at !== bytes.length) throw Error("a file of the model is too long");
    },
  };
};

const readLayer = (bytes) => {
  const from = reader(bytes);
  const shapes = [[D, D], [D, D], [D, D], [D, D], [HIDDEN, D], [D, HIDDEN]];
  const matrices = shapes.map(([rows, columns]) => from.matrix(rows, columns));
  const biases = shapes.map(([rows]) => from.vector(rows));
  const norms = [0, 1].map(() => [from.vector(D), from.vector(D)]);
  from.end();
  return { maps: matrices.map((matrix, i) => ({ ...matrix, bias: biases[i] })), norms };
};

const readPlaces = (bytes) => {
  const from = reader(bytes);
  const places = from.matrix(64, D);
  const [segment, ...norm] = [from.vector(D), from.vector(D), from.vector(D)];
  from.end();
  return { places, segment, norm };
};

const readWords = (bytes) => {
  const from = reader(bytes);
  const words = from.matrix(bytes.length / (D + (2 * D) / BLOCK), D);
  from.end();
  return words;
};

// Writes one row, as float64, to `out` from `at` on.
const row = ({ columns, whole, scales }, i, out, at = 0) => {
  for (let j = 0, k = i * columns; j < columns; j += BLOCK) {
    const scale = scales[k / BLOCK];
    for (let end = k + BLOCK; k < end; ) out[at++] = whole[k++] * scale;
  }
};

// x (S, columns) times the transposed matrix, plus its bias: (S, rows). `S` is even, `rows` a
// multiple of four; eight sums at a time stay in registers.
const linear = (x, S, map) => {
  const { rows, columns: n, bias } = map;
  const [out, four] = [new Float64Array(S * rows), new Float64Array(4 * n)];
  for (let i = 0; i < rows; i += 4) {
    for (let k = 0; k < 4; k++) row(map, i + k, four, k * n);
    for (let s = 0; s < S; s += 2) {
      let [a0, a1, a2, a3] = [bias[i], bias[i + 1], bias[i + 2], bias[i + 3]];
      let [b0, b1, b2, b3] = [a0, a1, a2, a3];
      const [a, b] = [s * n, (s + 1) * n];
      for (let k = 0; k < n; k++) {
        const p = x[a + k];
        const q = x[b + k];
        const w0 = four[k];
        const w1 = four[n + k];
        const w2 = four[2 * n + k];
        const w3 = four[3 * n + k];
        a0 += p * w0;
        a1 += p * w1;
        a2 += p * w2;
        a3 += p * w3;
        b0 += q * w0;
        b1 += q * w1;
        b2 += q * w2;
        b3 += q * w3;
      }
      const [first, second] = [s * rows + i, (s + 1) * rows + i];
      out[first] = a0;
      out[first + 1] = a1;
      out[first + 2] = a2;
      out[first + 3] = a3;
      out[second] = b0;
      out[second + 1] = b1;
      out[second + 2] = b2;
      out[second + 3] = b3;
    }
  }
  return out;
};

// Each row of x, plus that of `added`, to mean 0 and variance 1, times weight, plus bias; in place.
const normalise_rows = (x, S, [weight, bias], added = null) => {
  for (let s = 0; s < S; s++) {
    const at = s * D;
    let [mean, square] = [0, 0];
    for (let k = 0; k < D; k++) mean += x[at + k] += added ? added[at + k] : 0;
    mean /= D;
    for (let k = 0; k < D; k++) square += (x[at + k] - mean) ** 2;
    const scale = 1 / Math.sqrt(square / D + EPSILON);
    for (let k = 0; k < D; k++) x[at + k] = (x[at + k] - mean) * scale * weight[k] + bias[k];
  }
  return x;
};

// The error function: its series near 0, its continued fraction further out, to about 1e-12.
const erf = (x) => {
  const z = Math.abs(x);
  if (z > 6) return Math.sign(x);
  if (z < 2.5) {
    let [term, sum] = [z, z];
    for (let n = 1; term > 1e-14 * sum; n++) sum += term *= (2 * z * z) / (2 * n + 1);
    return ((Math.sign(x) * 2) / Math.sqrt(Math.PI)) * Math.exp(-z * z) * sum;
  }
  let fraction = z;
  for (let n = 40; n > 0; n--) fraction = z + n / 2 / fraction;
  return Math.sign(x) * (1 - Math.exp(-z * z) / (fraction * Math.sqrt(Math.PI)));
};

// gelu(x) = x Phi(x), from a table of erf with cubic interpolation, exact to about 1e-10.
const STEP = 64;
const TABLE = Float64Array.from({ length: 12 * STEP + 5 }, (_, i) => 1 + erf((i - 2) / STEP - 6));
const gelu = (x) => {
  const z = x * Math.SQRT1_2;
  if (z <= -6) return 0;
  if (z >= 6) return x;
  const place = (z + 6) * STEP;
  const i = Math.floor(place);
  const t = place - i;
  const [a, b, c, d] = [TABLE[i + 1], TABLE[i + 2], TABLE[i + 3], TABLE[i + 4]];
  const cubic = b + (t / 2) * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
  return (x / 2) * cubic;
};

// One head's weights into `maps`, from `place` on, and its mean of values into `mixed`, unless there
// is no `mixed`, since the head is switched off.
const attend = ([Q, K, V], S, h, maps, place, mixed) => {
  const scores = new Float64Array(S);
  for (let i = 0; i < S; i++) {
    const q = i * D + h * WIDTH;
    let [top, total] = [-Infinity, 0];
    for (let j = 0; j < S; j++) {
      const k = j * D + h * WIDTH;
      let score = 0;
      for (let c = 0; c < WIDTH; c++) score += Q[q + c] * K[k + c];
      scores[j] = score / Math.sqrt(WIDTH);
      if (scores[j] > top) top = scores[j];
    }
    for (let j = 0; j < S; j++) total += scores[j] = Math.exp(scores[j] - top);
    for (let j = 0; j < S; j++) {
      const weight = scores[j] / total;
      const v = j * D + h * WIDTH;
      maps[place + i * S + j] = weight;
      for (let c = 0; mixed && c < WIDTH; c++) mixed[q + c] += weight * V[v + c];
    }
  }
};

// The weights of all heads, (layers, heads, S, S), as one array, and the vectors that enter the first
// layer and leave each, (S, D) each. `words` has the parts of the table of words by their number,
// `off` the places, 12 * layer + head, of heads whose output is zero.
const encode = ({ places, layers, words }, ids, off = new Set()) => {
  const [S, even] = [ids.length, ids.length + (ids.length % 2)];
  const [x, line] = [new Float64Array(even * D), new Float64Array(D)];
  ids.forEach((id, s) => {
    row(words.get(Math.floor(id / PART)), id % PART, x, s * D);
    row(places.places, s, line);
    for (let k = 0; k < D; k++) x[s * D + k] += line[k] + places.segment[k];
  });
  normalise_rows(x, S, places.norm);
  const hidden = [Float32Array.from(x.subarray(0, S * D))];
  const maps = new Float32Array(layers.length * HEADS * S * S);
  layers.forEach(({ maps: [toQ, toK, toV, toO, widen, narrow], norms }, l) => {
    const projected = [toQ, toK, toV].map((map) => linear(x, even, map));
    const mixed = new Float64Array(even * D);
    for (let h = 0; h < HEADS; h++) {
      const at = l * HEADS + h;
      attend(projected, S, h, maps, at * S * S, off.has(at) ? null : mixed);
    }
    normalise_rows(x, S, norms[0], linear(mixed, even, toO));
    normalise_rows(x, S, norms[1], linear(linear(x, even, widen).map(gelu), even, narrow));
    hidden.push(Float32Array.from(x.subarray(0, S * D)));
  });
  return { maps, hidden };
};
