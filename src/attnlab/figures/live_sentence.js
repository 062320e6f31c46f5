import { arcs, reader, wordsOf } from "./reading.js";
import { beside, figure, fixed } from "./shared.js";

const HEADS = {
  "4-2": "4-2, often from a verb to its noun",
  "1-3": "1-3, the word before",
  "2-9": "2-9, mostly the word after",
  "5-6": "5-6, rests on [CLS]",
};

export const compute = ({ sentence, head, token, sentences, maps, own }) => {
  const place = Math.min(sentence, sentences.length - (own.pieces ? 0 : 1));
  const mine = place === sentences.length;
  const pieces = (mine ? own.pieces : sentences[place]).split(" ");
  const [layer, number] = head.split("-");
  const found = mine ? own.maps[layer - 1][number - 1] : maps[place][Object.keys(HEADS).indexOf(head)];
  const map = pieces.map((_, i) => pieces.map((_, j) => found[i][j] / 1000));
  const row = Math.min(token, pieces.length - 1);
  return { pieces, map, token: row, most: map[row].indexOf(Math.max(...map[row])) };
};

export const describe = ({ head }, { pieces, map, token, most }) =>
  `In head ${head}, “${pieces[token]}” reads “${pieces[most]}” most, ` +
  `with weight ${fixed(map[token][most], 2)}.`;

const build = (root, ui, { sentences, asked }) => {
  if (!(ui.get("head") in HEADS)) ui.put("head", "4-2"); // a link may hold what is none
  const sentence = arcs((i) => ui.put("token", i));
  let typed = null; // the sentence that was shown when the reader typed
  const own = reader(ui, {
    asked,
    typed: () => (typed = ui.get("sentence")),
    want() {
      const text = ui.get("asked");
      return text && ui.get("own").text !== text ? { text } : null;
    },
    take(answer) {
      ui.put("own", answer);
      if (typed === ui.get("sentence")) ui.put("sentence", sentences.length);
      typed = null;
    },
  });
  // They differ at the end.
  const ends = sentences.map((text) => `… ${wordsOf(text).split(" ").slice(-5).join(" ")}`);
  const options = [...ends, "your own"].map((text, i) => [i, text]);
  const choice = ui.choice("sentence", { label: "Sentence", options });
  root.append(
    sentence.node,
    beside(choice, ui.choice("head", { label: "Head", options: Object.entries(HEADS) })),
    own.node,
  );
  return (state, { pieces, map, token }) => {
    own.follow(state.own);
    choice.querySelector("option:last-child").disabled = !state.own.pieces;
    sentence.paint(pieces, map, token);
  };
};

export default {
  render: figure({
    traits: ["sentence", "head", "token", "sentences", "maps", "asked", "own"],
    compute,
    describe,
    build,
  }),
};
