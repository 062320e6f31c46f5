"""attnlab: the ideas of the chapter "The Attention Mechanism", one module each.

The chapters and the exercises import these modules, and the tests hold them against a float64
oracle in NumPy and against PyTorch's own functions.

Symbols
-------
Every shape in this package is written with these names, in this order:

======== ==================================================================================
symbol   meaning
======== ==================================================================================
B        batch: how many sequences are processed together
H        heads: how many attention functions run in parallel (the papers' ``h``)
S        sequence length (the papers' ``n``) where queries and keys come from one sequence
S_q      number of query positions
S_k      number of key positions, which is also the number of values
d_model  width of a token's vector as it enters and leaves a layer
d_k      width of one query or one key
d_v      width of one value
======== ==================================================================================

Conventions
-----------
Tensors are laid out as (batch, heads, sequence, width). A mask is boolean and True means *may
attend*. Every function accepts float32, float64 and bfloat16 on any device, and never changes
its inputs; only the kernels of `flash_triton` ask for a GPU and take no float64.
"""
