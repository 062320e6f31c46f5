"""Labelling: shapes, what is counted, and that training needs attention where the task does."""

import pytest
import torch
from torch import nn

from attnlab import sequence_labelling, tasks
from attnlab.tasks import PAD, SPECIALS
from attnlab.transformer import TransformerEncoder

pytestmark = pytest.mark.usefixtures("_one_thread")
B, S, K, vocab = 3, 7, 2, 11
ITSELF = torch.eye(6, dtype=torch.bool)


def small(vocab_size=vocab, labels=K):
    return TransformerEncoder(vocab_size, 32, 2, 1), nn.Linear(32, labels * vocab_size)


def learned(make, mask=None):
    """Train on a task over 4 symbols, and give the accuracies on fresh sequences."""
    source, target = make(200 * 32, 1)
    model, readout = small(SPECIALS + 4, target.shape[-1])
    batches = list(zip(source.split(32), target.split(32), strict=True))
    losses = sequence_labelling.train(model, readout, batches, mask)
    assert len(losses) == 200
    return sequence_labelling.accuracy(model, readout, *make(300, 2), mask)


def copy(n, seed):
    source, target = tasks.copy(n, 6, 4, seed)
    return source, target[..., None]


def copy_twin(n, seed):
    source, target = tasks.three_copies(n, 3, 4, seed)
    return source, target[..., 1:2]


def test_scores_come_in_one_row_of_the_vocabulary_for_each_label():
    model, readout = small()
    source = torch.randint(vocab, (B, S))
    scores = sequence_labelling.label_scores(model, readout, source)
    assert scores.shape == (B, S, K, vocab)
    second = model(source) @ readout.weight[vocab:].T + readout.bias[vocab:]
    torch.testing.assert_close(scores[:, :, 1], second)


def test_accuracy_counts_each_label_apart_and_skips_padding():
    model, readout = small()
    source = torch.randint(vocab, (B, S))
    target = sequence_labelling.label_scores(model, readout, source).argmax(-1)  # (B, S, K)
    target[target == PAD] = 1
    answered = sequence_labelling.label_scores(model, readout, source).argmax(-1)
    assert sequence_labelling.accuracy(
        model, readout, source, answered.where(answered == target, PAD)
    ) == [
        1.0,
        1.0,
    ]
    wrong = target.clone()
    wrong[..., 1] = (target[..., 1] % (vocab - 1)) + 1
    first, second = sequence_labelling.accuracy(model, readout, source, wrong)
    assert first > 0.8
    assert second < 0.2


def test_plain_copying_is_learned_without_any_attention():
    assert learned(copy, ITSELF) == [1.0]


def test_copying_a_twin_is_learned_with_attention_and_not_without():
    assert learned(copy_twin)[0] > 0.95
    assert learned(copy_twin, ITSELF)[0] < 0.4
