"""Train the two models of the chapter's running example and write their weights: ``make story``.

The file goes into the package `attnlab`, with what it takes to make it again among its metadata.
"""

import platform
import sys

import torch

from attnlab import seq2seq, story, translator

LAST = 20  # the loss that is recorded is the mean over so many last steps


def main() -> int:
    """Train, measure on unseen sentences, write; give the exit code."""
    torch.set_num_threads(1)
    test = story.unseen()
    made = {
        "script": "tools/story.py",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": "1",
        "unseen sentences": str(len(test.source)),
    }
    models = {}
    for name, train, translate, seed in (
        ("transformer", story.train, translator.translate, story.SEED),
        ("bahdanau", story.train_bahdanau, written_by, story.BAHDANAU_SEED),
    ):
        models[name], losses = train()
        words = translate(models[name], test.source, test.target.shape[1])
        made |= {
            f"{name}: seed": str(seed),
            f"{name}: steps": str(len(losses)),
            f"{name}: loss": f"{sum(losses[-LAST:]) / LAST:.5f} nats a word",
            f"{name}: exact on unseen": f"{story.exact_match(words, test.target):.4f}",
        }
    story.save(models, made)
    print(*(f"{key:32} {value}" for key, value in made.items()), sep="\n")
    print(f"wrote {story.WEIGHTS}, {story.WEIGHTS.stat().st_size / 1000:.0f} kB")
    return 0


def written_by(model: seq2seq.Seq2Seq, source: torch.Tensor, max_len: int) -> torch.Tensor:
    """Give the words alone, without the weights."""
    return seq2seq.translate(model, source, max_len)[0]


if __name__ == "__main__":
    sys.exit(main())
