"""The two halves of a recurrent encoder-decoder: one LSTM that reads and one that writes.

They follow Sutskever et al. (2014), "Sequence to Sequence Learning with Neural Networks"; Bahdanau
et al. (2015), "Neural Machine Translation by Jointly Learning to Align and Translate", appendix
A.1.2; Luong et al. (2015), "Effective Approaches to Attention-based Neural Machine Translation",
section 3.1. Sizes are whole numbers from 1 on: anything else raises TypeError or ValueError.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnlab.additive import BahdanauAttention, LuongAttention
from attnlab.arguments import check_counts
from attnlab.tasks import PAD

State = tuple[Tensor, Tensor]  # hidden state and memory cell of an LSTM, each (1, B, d_state)


class Memory(NamedTuple):
    """What the decoder may look at while it writes."""

    states: Tensor  # (B, T_x, d_state), one encoder state for each source position
    keys: Tensor | None  # (B, T_x, width), the encoder's share of the scores, for attention
    mask: Tensor  # (B, T_x) bool, True on words, False on padding
    summary: Tensor  # (B, 2 * d_state), the fixed vector: both parts of the encoder's last state


class Encoder(nn.Module):
    """LSTM that reads the source in both directions; half of `d_state`, which is even, for each."""

    def __init__(self, vocab_size: int, d_embed: int, d_state: int) -> None:
        super().__init__()
        check_counts(least=1, vocab_size=vocab_size, d_embed=d_embed, d_state=d_state)
        if d_state % 2:
            raise ValueError(f"d_state={d_state} is odd, but each direction takes half of it")
        self.embed = nn.Embedding(vocab_size, d_embed, padding_idx=PAD)
        self.lstm = nn.LSTM(d_embed, d_state // 2, batch_first=True, bidirectional=True)

    def forward(self, source: Tensor) -> tuple[Tensor, State]:
        """Read sentences (B, T_x) of one word or more; `PAD` changes nothing, and its states are 0.

        The states are (B, T_x, d_state). The pair behind them, hidden state and memory cell after
        the last word read in each direction, is the fixed vector that a decoder without attention
        lives on.
        """
        lengths = (source != PAD).sum(1).cpu()
        words = self.embed(source)  # (B, T_x, d_embed)
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        packed, last = self.lstm(packed)
        states, _ = pad_packed_sequence(packed, batch_first=True, total_length=source.shape[1])
        last = tuple(x.transpose(0, 1).flatten(1).unsqueeze(0) for x in last)  # (1, B, d_state)
        return states, last  # (B, T_x, d_state)


class Decoder(nn.Module):
    """LSTM that writes the target one word at a time.

    With ``"bahdanau"`` the previous state :math:`s_{t-1}` asks, and the context enters the LSTM
    with the previous word. With ``"luong"`` the new state :math:`s_t` asks by the score "general",
    and the context meets it on the way out. Without attention `repeat_summary` lets the fixed
    vector enter the LSTM with every word, as in Cho et al. (2014), "Learning Phrase Representations
    using RNN Encoder-Decoder for Statistical Machine Translation", and not only as the first state.
    Another attention, or both together, raise ValueError.
    """

    def __init__(
        self,
        vocab_size: int,
        d_embed: int,
        d_state: int,
        attention: str | None,
        repeat_summary: bool = False,
    ) -> None:
        super().__init__()
        check_counts(least=1, vocab_size=vocab_size, d_embed=d_embed, d_state=d_state)
        if attention not in (None, "bahdanau", "luong"):
            raise ValueError(f"attention is {attention!r}; choose None, 'bahdanau' or 'luong'")
        if attention and repeat_summary:
            raise ValueError(f"repeat_summary goes with attention=None, not with {attention!r}")
        self.context_enters = attention == "bahdanau"
        self.repeat_summary = repeat_summary
        self.embed = nn.Embedding(vocab_size, d_embed, padding_idx=PAD)
        d_beside = d_state * self.context_enters + 2 * d_state * repeat_summary
        self.lstm = nn.LSTM(d_embed + d_beside, d_state, batch_first=True)
        self.attention = None
        if attention == "bahdanau":
            self.attention = BahdanauAttention(d_state, d_state, d_state)
        elif attention == "luong":
            self.attention = LuongAttention(d_state, d_state, score="general")
        if attention:
            self.combine = nn.Linear(2 * d_state, d_state)
        self.out = nn.Linear(d_state, vocab_size)

    def forward(
        self, previous: Tensor, state: State, memory: Memory
    ) -> tuple[Tensor, Tensor | None, State]:
        """Write T words, given the word before each, (B, T), and the state before the first."""
        embedded = self.embed(previous)  # (B, T, d_embed)
        if self.repeat_summary:
            summary = memory.summary[:, None].expand(-1, embedded.shape[1], -1)
            embedded = torch.cat([embedded, summary], -1)  # (B, T, d_embed + 2 * d_state)
        if self.attention is None:
            hidden, state = self.lstm(embedded, state)  # (B, T, d_state)
            return self.out(hidden), None, state
        if self.context_enters:
            hidden, context, weights, state = self._feed_context(embedded, state, memory)
        else:
            hidden, state = self.lstm(embedded, state)  # (B, T, d_state)
            context, weights = self.attention(hidden, memory.states, memory.mask, memory.keys)
        mixed = torch.tanh(self.combine(torch.cat([hidden, context], -1)))  # (B, T, d_state)
        return self.out(mixed), weights, state  # (B, T, vocab_size), (B, T, T_x), the last state

    def _feed_context(
        self, embedded: Tensor, state: State, memory: Memory
    ) -> tuple[Tensor, Tensor, Tensor, State]:
        """Attend with the state before each word, and let the context enter the LSTM."""
        steps = []
        for word in embedded.split(1, dim=1):  # (B, 1, d_embed)
            asking = state[0].transpose(0, 1)  # (B, 1, d_state)
            context, weights = self.attention(asking, memory.states, memory.mask, memory.keys)
            hidden, state = self.lstm(torch.cat([word, context], -1), state)  # (B, 1, d_state)
            steps.append((hidden, context, weights))
        return *(torch.cat(parts, 1) for parts in zip(*steps, strict=True)), state
