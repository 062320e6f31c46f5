import { bars, beside, entropy, figure, fixed, grid, sum } from "./shared.js";

const mean = (xs) => sum(xs) / xs.length;
// Mean weight on the key at this place, over all other queries
const delimiter = (map, place) => mean(map.map((row) => row[place]).filter((_, i) => i !== place));
// Mean weight on the key so far to the right, over the queries that have it
const neighbour = (map, offset) =>
  mean(map.map((row, i) => row[i + offset]).filter((weight) => weight !== undefined));

const SCORES = {
  "[CLS]": (map) => delimiter(map, 0),
  "[SEP]": (map) => delimiter(map, map.length - 1),
  "previous token": (map) => neighbour(map, -1),
  "next token": (map) => neighbour(map, 1),
  uniformity: (map) => mean(map.map(entropy)) / Math.log(map.length),
};

export const compute = ({ sentence, score, layer, head, token, sentences, maps }) => {
  const place = Math.min(sentence, sentences.length - 1);
  const pieces = sentences[place].split(" ");
  const weights = (map) =>
    map.slice(0, pieces.length).map((row) => row.slice(0, pieces.length).map((w) => w / 1000));
  const scores = maps[place].map((heads) => heads.map((map) => SCORES[score](weights(map))));
  const map = weights(maps[place][layer - 1][head - 1]);
  const row = Math.min(token, pieces.length - 1);
  return {
    pieces,
    scores,
    above: scores.flat().filter((s) => s > scores[layer - 1][head - 1]).length,
    map,
    token: row,
    most: map[row].indexOf(Math.max(...map[row])),
  };
};

export const describe = ({ score, layer, head }, { pieces, scores, above, map, token, most }) =>
  `In head ${layer}-${head}, “${pieces[token]}” reads “${pieces[most]}” most, with ` +
  `weight ${fixed(map[token][most], 3)}. On this sentence the head’s score ` +
  `“${score}” is ${fixed(scores[layer - 1][head - 1], 2)}; of the other ${scores.flat().length - 1} heads, ` +
  `${above} score higher.`;

const words = (pieces) => pieces.split(" ").slice(1, -1).join(" ");

const build = (root, ui, { sentences }) => {
  const overview = grid("The score of layer (down) and head (across), in hundredths", (i, j) => {
    ui.put("layer", i + 1);
    ui.put("head", j + 1);
  });
  overview.node.classList.add("attn-many");
  const large = grid("Weights of the chosen head: queries down, keys across", (i) => ui.put("token", i));
  // A finger and the arrow keys point at a query as a mouse does.
  const follow = ({ target }) => {
    const row = target.closest("tbody tr");
    if (row) ui.put("token", row.sectionRowIndex);
  };
  for (const event of ["pointerover", "keyup"]) large.node.addEventListener(event, follow);
  large.node.classList.add("attn-tall");
  const reads = bars("", 1);
  root.append(
    beside(
      ui.choice("sentence", { label: "Sentence", options: sentences.map((s, i) => [i, words(s)]) }),
      ui.choice("score", { label: "Colour by", options: Object.keys(SCORES).map((s) => [s, s]) }),
    ),
    overview.node,
    beside(large.node, reads.node),
  );
  return ({ layer, head }, { pieces, scores, map, token }) => {
    overview.paint({
      rows: scores.map((_, i) => `${i + 1}`),
      columns: scores[0].map((_, j) => `${j + 1}`),
      values: scores,
      text: (value) => fixed(100 * value, 0),
      pressed: (i, j) => i === layer - 1 && j === head - 1,
    });
    large.paint({ rows: pieces, columns: pieces, values: map, pressed: (i) => i === token });
    reads.node.caption.textContent = `Head ${layer}-${head}, “${pieces[token]}” reads`;
    reads.paint(pieces, map[token]);
  };
};

export default {
  render: figure({
    traits: ["sentence", "score", "layer", "head", "token", "sentences", "maps"],
    compute,
    describe,
    build,
  }),
};
