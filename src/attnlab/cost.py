r"""What attention costs, as formulas: floating-point operations, bytes, parameters, steps.

An operation is a multiplication or an addition, so a product of an (a, b) and a (b, c) matrix has
``2 * a * b * c``. As in PyTorch's counter only matrix products count; the softmax, the masks and
the biases are left out. Operations are those of the forward pass unless a name says otherwise.

Sizes have the names of the package; `itemsize` is the bytes of a number: 4 for float32, 2 for
float16 and bfloat16. They are Python integers and so are the results: nothing overflows. A size
that is no whole number raises TypeError, a negative one ValueError. The parameters of multi-head
attention are counted in `attnlab.multihead.count_parameters`.
"""

from attnlab.arguments import check_counts, check_whole


def attention_flops(batch: int, n_heads: int, S_q: int, S_k: int, d_k: int, d_v: int) -> int:
    r"""Count the operations of :math:`QK^\top` and of weights times values.

    With ``n_heads * d_k = d_model`` they are 4 n² d_model for self-attention over n positions,
    whatever the number of heads. A fused kernel has as many.
    """
    check_counts(batch=batch, n_heads=n_heads, S_q=S_q, S_k=S_k, d_k=d_k, d_v=d_v)
    return 2 * batch * n_heads * S_q * S_k * (d_k + d_v)


def attention_backward_flops(
    batch: int, n_heads: int, S_q: int, S_k: int, d_k: int, d_v: int, recompute: bool = False
) -> int:
    r"""Count the operations of the gradients of Q, K, V and of the weights.

    With `recompute` :math:`QK^\top` is computed once more, as FlashAttention does instead of
    keeping the weights (Dao et al. 2022, algorithm 4): five matrix products instead of four.
    """
    forward = attention_flops(batch, n_heads, S_q, S_k, d_k, d_v)
    again = 2 * batch * n_heads * S_q * S_k * d_k if recompute else 0
    return 2 * forward + again


def projection_flops(batch: int, S_q: int, S_k: int, d_model: int) -> int:
    """Count the operations of W_q and W_o on the queries' side and of W_k and W_v on the keys'.

    They are 8 n d_model² for self-attention over n positions; the backward pass has twice as many.
    """
    check_counts(batch=batch, S_q=S_q, S_k=S_k, d_model=d_model)
    return 2 * batch * (2 * S_q + 2 * S_k) * d_model**2


def multihead_flops(batch: int, S_q: int, S_k: int, d_model: int) -> int:
    """Count the operations of `attnlab.multihead.MultiHeadAttention`: projections and attention.

    The number of heads does not matter: H heads of width d_model / H. The backward pass has twice
    as many.
    """
    projections = projection_flops(batch, S_q, S_k, d_model)
    return projections + attention_flops(batch, 1, S_q, S_k, d_model, d_model)


def map_bytes(batch: int, n_heads: int, S_q: int, S_k: int, itemsize: int = 4) -> int:
    """Give the size of one table with a number for each pair of query and key.

    The scores are one such table, the weights another, and the gradient of each one more.
    """
    check_counts(batch=batch, n_heads=n_heads, S_q=S_q, S_k=S_k, itemsize=itemsize)
    return batch * n_heads * S_q * S_k * itemsize


def peak_bytes(
    batch: int,
    n_heads: int,
    S_q: int,
    S_k: int,
    itemsize: int = 4,
    training: bool = False,
    dropout: bool = False,
) -> int:
    """Give what the tables of `attnlab.attention` take at the worst moment, with a mask or without.

    Two live side by side in the forward pass (scores and weights), three in the backward pass (the
    weights, their gradient, the gradient of the scores). Dropout on the weights, as the module in
    training has it, adds one. What is measured beyond the inputs exceeds this by no more than Q, K,
    V and the output take, in training their gradients, and a mask's negation, one byte a pair.
    Who holds on to the weights of a masked attention until the backward pass holds one table more.
    """
    return (2 + training + dropout) * map_bytes(batch, n_heads, S_q, S_k, itemsize)


def saved_bytes(
    batch: int,
    n_heads: int,
    S_q: int,
    S_k: int,
    d_k: int,
    d_v: int,
    itemsize: int = 4,
    masked: bool = False,
) -> int:
    """Give what `attnlab.attention` keeps for its backward pass: weights, scaled Q, K and V.

    With a mask it keeps the weights twice, before and after rows that see nothing become zeros.
    The mask itself, one byte a number and one for each of its rows, comes on top.
    """
    check_counts(d_k=d_k, d_v=d_v)
    tables = (1 + masked) * map_bytes(batch, n_heads, S_q, S_k, itemsize)
    vectors = S_q * d_k + S_k * (d_k + d_v)
    return tables + batch * n_heads * vectors * itemsize


def flash_extra_bytes(batch: int, n_heads: int, S_q: int) -> int:
    """Give what FlashAttention keeps beyond its inputs and its output.

    It is one float32 number for each query and head, the logarithm of the softmax's denominator, as
    in FlashAttention-2 (Dao 2024). Algorithm 1 of Dao et al. (2022) keeps two, the maximum m and
    the sum l; theorem 1 there bounds them by O(N).
    """
    check_counts(batch=batch, n_heads=n_heads, S_q=S_q)
    return 4 * batch * n_heads * S_q


def flash_saved_bytes(
    batch: int, n_heads: int, S_q: int, S_k: int, d_k: int, d_v: int, itemsize: int = 4
) -> int:
    """Give what FlashAttention keeps for its backward pass: Q, K, V, output, one number a query."""
    check_counts(S_k=S_k, d_k=d_k, d_v=d_v, itemsize=itemsize)
    extra = flash_extra_bytes(batch, n_heads, S_q)
    return batch * n_heads * (S_q + S_k) * (d_k + d_v) * itemsize + extra


def self_attention_layer(n: int, d: int) -> dict[str, int]:
    """Give the costs of a self-attention layer over n vectors of width d, projections included.

    This and the two functions below follow Vaswani et al. (2017), table 1, with numbers instead of
    orders of growth.

    They are the ``flops`` and ``parameters`` of one layer without biases, its ``sequential_steps``,
    each of which waits for the one before, and the ``path_length``: layers or steps that a signal
    takes from the first position to the last.
    """
    flops = multihead_flops(1, n, n, d)
    return {"flops": flops, "parameters": 4 * d**2, "sequential_steps": 1, "path_length": 1}


def recurrent_layer(n: int, d: int, gates: int = 1) -> dict[str, int]:
    """Give the costs of a recurrent layer, h_t = tanh(W x_t + U h_(t-1)).

    A GRU has three such pairs of matrices and an LSTM four: ``gates=3`` and ``gates=4``.
    """
    check_counts(n=n, d=d, gates=gates)
    flops, weights = 4 * gates * n * d**2, 2 * gates * d**2
    return {"flops": flops, "parameters": weights, "sequential_steps": n, "path_length": n}


def convolutional_layer(n: int, d: int, kernel: int) -> dict[str, int]:
    """Give the costs of a causal convolution, and the path through a dilated stack.

    Each output sees `kernel` positions. Layer l of the stack, counted from 1, takes every
    ``kernel**(l-1)``-th, so that the last position of L layers sees ``kernel**L`` positions.
    A kernel below 2 raises ValueError: it connects no two positions.
    """
    check_counts(n=n, d=d)
    check_whole(kernel=kernel)
    if kernel < 2:
        raise ValueError(f"kernel={kernel} connects no two positions; use 2 or more")
    layers = 1
    while kernel**layers < n:
        layers += 1
    flops, weights = 2 * kernel * n * d**2, kernel * d**2
    return {"flops": flops, "parameters": weights, "sequential_steps": 1, "path_length": layers}


def kv_cache_bytes(
    batch: int, n_layers: int, n_kv_heads: int, n: int, d_k: int, itemsize: int = 2
) -> int:
    """Give what the keys and values of n tokens take in all layers of a decoder that keeps them.

    With grouped queries (Ainslie et al. 2023) there are fewer `n_kv_heads` than query heads; a
    sliding window keeps no more than its width of n.
    """
    check_counts(batch=batch, n_layers=n_layers, n_kv_heads=n_kv_heads)
    check_counts(n=n, d_k=d_k, itemsize=itemsize)
    return 2 * batch * n_layers * n_kv_heads * n * d_k * itemsize
