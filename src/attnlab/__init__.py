"""attnlab: the ideas of the chapter "The Attention Mechanism", one module each.

The chapters and the exercises import these modules, and the tests hold them against a float64
oracle in NumPy and against PyTorch's own functions.

======================== ============= ===========================================================
module                   section       holds
======================== ============= ===========================================================
`reference`              1.3           attention in NumPy and float64: the oracle of all the others
`attention`              1.3, 1.5      softmax under a mask, scaled dot-product attention
`masks`                  1.4, 1.5      causal and padding masks, and PyTorch's ways to spell them
`multihead`              1.6 to 1.8    multi-head attention as one module
`additive`               1.2           Bahdanau's and Luong's scores
`recurrent`, `seq2seq`   1.1, 1.2      an LSTM that reads and one that writes; both in one
`transformer`            1.4, Ex. 1.4  encoder layers, positions
`translator`             1.2 to 1.7    encoder and decoder: the whole Transformer, small
`story`                  1.2 to 1.7    the sentence of the whole chapter, and its trained models
`story_training`         -             how these models were trained
`trace`                  1.2 to 1.7    every tensor of a translation, and what breaks without a part
`flow`                   1.7           every tensor of one layer, caught on its way
`sequence_labelling`     Ex. 1.4       labels for every position: training, accuracy
`training`               1.1, 1.2      the one training loop
`tasks`, `language`      1.1, 1.2      synthetic data with known answers; a verb-final language
`minilm`, `sentences`    1.6           a real trained encoder; annotated sentences to judge it on
`heads`                  1.6           what an attention head does, in numbers
`cost`                   1.9           operations, bytes and parameters as formulas
`profiling`              1.9, Ex. 1.5  time and memory measured; exponents; what needs a GPU
`peak_memory`            1.9, 1.10     bytes that tensors hold, counted exactly (once `storages`)
`memory_traffic`         1.10          bytes between a small fast memory and a large slow one
`measurement_records`    1.10          files of recorded measurements
`gpu_curves`             1.10          speed and memory on GPUs: recorded here, or else published
`flash_ladder`           1.10          from a softmax in three passes to attention in tiles
`flash`, `flash_tiles`   1.10          Flash attention; its tile loops, forward and backward
`flash_triton`           1.10          the same on a GPU; `flash_triton_kernels` has the programs
`plotting`, `maps`       all           the book's look: heat maps, log-log plots; maps side by side
`drawings`               1.1, 1.10     networks as boxes and arrows; tiles and the loops over them
`figures`                all           interactive figures, one module each
`checks`                 exercises     what graded cells call
`serving`, `settings`    exercises     how models reach a judge; what a check sets for itself
`serving_modules`        exercises     the same for a module that a student wrote
`arguments`              -             refuses numbers that are none, for all of the above
======================== ============= ===========================================================

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
