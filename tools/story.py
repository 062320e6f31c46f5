"""Train the models of the chapter's running example and write what they leave: ``make story``.

One file goes into the package `attnlab`: the weights of two models, sentences that neither has
seen, and, as metadata, what it takes to make all of it again. Another holds the scores that two
figures show. The metadata also say how a control does, the same Transformer trained without its
encoder's self-attention, from several starts. Of each training they hold the first losses, so that
a test can tell in a second whether it would still go the same way.
"""

import json
import platform
import sys

import torch

from attnlab import seq2seq, story, story_training, translator
from attnlab.figures import self_or_cross
from attnlab.tasks import GERMAN, Translation

LAST = 20  # the loss that is recorded is the mean over so many last steps
SCORES = story.WEIGHTS.parents[1] / "figures" / "self_or_cross.json"
CONJUNCTIONS = torch.tensor([GERMAN.index(word) for word in ("weil", "obwohl")])


def main() -> int:
    """Train, measure on unseen sentences, write; give the exit code."""
    torch.set_num_threads(1)
    test = story_training.choose_unseen()
    made = {
        "script": "tools/story.py",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": "1",
        "unseen sentences": str(len(test.source)),
    }
    models = {}
    for name, train, translate, seed in (
        ("transformer", story_training.train, translator.translate, story.SEED),
        ("bahdanau", story_training.train_bahdanau, written_by, story.BAHDANAU_SEED),
    ):
        models[name], losses = train()
        words = translate(models[name], test.source, test.target.shape[1])
        made |= {
            f"{name}: seed": str(seed),
            f"{name}: steps": str(len(losses)),
            f"{name}: loss": f"{sum(losses[-LAST:]) / LAST:.5f} nats a word",
            f"{name}: first losses": first(losses),
            f"{name}: exact on unseen": f"{story.exact_match(words, test.target):.4f}",
        }
    made |= compared(test)
    story_training.save(models, test, made)
    scores = self_or_cross.read_scores(story.load()).round(2).tolist()
    SCORES.write_text(json.dumps({"scores": scores}) + "\n", encoding="utf-8")
    print(*(f"{key:32} {value}" for key, value in made.items()), sep="\n")
    print(f"wrote {story.WEIGHTS}, {story.WEIGHTS.stat().st_size / 1000:.0f} kB")
    return 0


def written_by(model: seq2seq.Seq2Seq, source: torch.Tensor, max_len: int) -> torch.Tensor:
    """Give the words alone, without the weights."""
    return seq2seq.translate(model, source, max_len)[0]


def compared(test: Translation) -> dict[str, str]:
    """Train with and without the encoder's self-attention; give each start's accuracies."""
    joined = torch.isin(test.source, CONJUNCTIONS).any(1)  # (B,)
    parts = {"exact on unseen": joined | True, "one clause": ~joined, "two clauses": joined}
    names = [f"{kind}: {part}" for kind in ("starts", "control") for part in parts]
    found = {name: [] for name in names}
    for seed in story_training.CONTROL_SEEDS:
        whole, _ = story_training.train(seed=seed)
        control, losses = story_training.train_control(seed=seed)
        written = {"starts": translator.translate(whole, test.source, test.target.shape[1])}
        with story_training.without_self_attention(control):
            written["control"] = translator.translate(control, test.source, test.target.shape[1])
        for name in names:
            kind, _, part = name.partition(": ")
            rows = parts[part]
            found[name].append(story.exact_match(written[kind][rows], test.target[rows]))
    made = {name: " ".join(f"{share:.4f}" for share in shares) for name, shares in found.items()}
    made |= {"control: first losses": first(losses)}  # of the last seed
    return {"control: seeds": " ".join(map(str, story_training.CONTROL_SEEDS))} | made


def first(losses: list[float]) -> str:
    """Write the first losses of a training."""
    return " ".join(f"{loss:.5f}" for loss in losses[: story_training.FIRST])


if __name__ == "__main__":
    sys.exit(main())
