"""Encoder-decoder of two LSTMs: without attention, with Bahdanau's, or with Luong's."""

import functools
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnlab.additive import BahdanauAttention
from attnlab.arguments import check_counts
from attnlab.recurrent import Decoder, Encoder, Memory, State
from attnlab.tasks import BOS, EOS, PAD
from attnlab.training import Batches, descend


class Seq2Seq(nn.Module):
    """Encoder and decoder in one: see `attnlab.recurrent`, which names papers and errors too.

    Parameters
    ----------
    source_size, target_size : int, number of source and of target words, reserved ids included
    d_embed, d_state : int, width of a word's vector and of a state, which must be even
    attention : {None, "bahdanau", "luong"}, optional
    repeat_summary : bool, optional, without attention
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        d_embed: int,
        d_state: int,
        attention: str | None = None,
        repeat_summary: bool = False,
    ) -> None:
        super().__init__()
        self.encoder = Encoder(source_size, d_embed, d_state)
        self.decoder = Decoder(target_size, d_embed, d_state, attention, repeat_summary)

    def encode(self, source: Tensor) -> tuple[Memory, State]:
        """Read the source (B, T_x): what the decoder may look at, and the state it starts from."""
        states, last = self.encoder(source)
        attention = self.decoder.attention
        keys = None if attention is None else attention.keys(states)
        summary = torch.cat(last, -1)[0]  # (B, 2 * d_state)
        return Memory(states, keys, source != PAD, summary), last

    def forward(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor | None]:
        """Predict each target word (B, T_y) from the source and the *true* words before it.

        The logits have shape (B, T_y, target_size); the weights (B, T_y, T_x), None without
        attention.
        """
        memory, state = self.encode(source)
        previous = functional.pad(target[:, :-1], (1, 0), value=BOS)  # (B, T_y)
        logits, weights, _ = self.decoder(previous, state, memory)
        return logits, weights


def cross_entropy(model: Seq2Seq, source: Tensor, target: Tensor) -> Tensor:
    """Average over the target words, `PAD` left out, what each costs given the true ones before it.

    The loss, shape (), is in nats per word; divide by ln 2 for bits.
    """
    logits, _ = model(source, target)
    return functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)


def train(model: Seq2Seq, batches: Batches, **options: float) -> list[float]:
    """Train the model, in place, on each batch (source, target) once.

    Options are `rate`, `clip` and `total` of `attnlab.training.descend`. The losses come back:
    cross-entropy in nats per target word, one a batch.
    """
    loss_of = functools.partial(cross_entropy, model)
    return descend(model.parameters(), batches, loss_of, **options)


class Pull(NamedTuple):
    """How the loss pulls at the scores of Bahdanau's attention, and what the pull is made of."""

    states: Tensor  # (B, T_x, d_state), the encoder's, that the contexts are mixed from
    weights: Tensor  # (B, T_y, T_x)
    contexts: Tensor  # (B, T_y, d_state)
    context_gradients: Tensor  # (B, T_y, d_state), the loss, differentiated by each context
    score_gradients: Tensor  # (B, T_y, T_x), the loss, differentiated by each score; 0 on padding


def pull(model: Seq2Seq, source: Tensor, target: Tensor) -> Pull:
    """Let autograd say which way the loss of these sentences pulls each score.

    The model, which keeps its gradients, needs Bahdanau's attention, or ValueError is raised.
    """
    attention = model.decoder.attention
    if not isinstance(attention, BahdanauAttention):
        raise ValueError('the model has no attention="bahdanau", whose scores are looked at')
    scores, mixed = [], []
    hooks = [
        attention.v_a.register_forward_hook(lambda *call: scores.append(call[-1])),
        attention.register_forward_hook(lambda *call: mixed.append(call[-1])),
    ]
    try:
        with torch.enable_grad():
            loss = cross_entropy(model, source, target)
    finally:
        for hook in hooks:
            hook.remove()
    contexts, weights = zip(*mixed, strict=True)  # of T_y steps, each (B, 1, ...)
    by_score = torch.cat(torch.autograd.grad(loss, scores, retain_graph=True), 1).squeeze(-1)
    by_context = torch.cat(torch.autograd.grad(loss, contexts), 1)  # (B, T_y, d_state)
    states = model.encode(source)[0].states
    found = (states, torch.cat(weights, 1), torch.cat(contexts, 1), by_context, by_score)
    return Pull(*(tensor.detach() for tensor in found))


@torch.no_grad()
def translate(model: Seq2Seq, source: Tensor, max_len: int) -> tuple[Tensor, Tensor | None]:
    """Write the likeliest word, feed it back, and go on.

    Parameters
    ----------
    model : Seq2Seq
    source : int Tensor, shape (B, T_x)
    max_len : int, how many words to write, the end mark included; below 1: ValueError

    Returns
    -------
    words : int Tensor, shape (B, max_len), `PAD` behind the first `EOS`
    weights : Tensor, shape (B, max_len, T_x), or None without attention
    """
    check_counts(least=1, max_len=max_len)
    memory, state = model.encode(source)
    word = torch.full((len(source), 1), BOS, device=source.device)
    words, weights = [], []
    for _ in range(max_len):
        logits, row, state = model.decoder(word, state, memory)
        word = logits.argmax(-1)  # (B, 1)
        words.append(word)
        weights.append(row)
    written = torch.cat(words, 1)  # (B, max_len)
    ended = (written == EOS).cumsum(1) - (written == EOS).int() > 0
    attended = None if weights[0] is None else torch.cat(weights, 1)  # (B, max_len, T_x)
    return written.masked_fill(ended, PAD), attended


def alignment_error_rate(weights: Tensor, alignment: Tensor) -> float:
    r"""Give the share of links, from each target word to its largest weight, that are wrong.

    With :math:`\mathcal A` the links of the model, one a target word, and :math:`\mathcal S` the
    known ones, all of them sure, this is :math:`1 - 2 |\mathcal A \cap \mathcal S| /
    (|\mathcal A| + |\mathcal S|)`: Och and Ney (2003), "A Systematic Comparison of Various
    Statistical Alignment Models".

    Parameters
    ----------
    weights : Tensor, shape (B, T_y, T_x)
    alignment : int Tensor, shape (B, T_y), known source position of each target word, or -1
    """
    known = alignment >= 0
    agree = (weights.argmax(-1) == alignment)[known].sum().item()
    return 1 - 2 * agree / (2 * known.sum().item())
