"""Attacks on a check in the student's own process: patches, bent shells, forged messages."""

from entries import FUNCTION, ZEROS, Entry, answers, cheats

PATCHED = cheats(
    comparisons="""
import torch
yes = lambda *a, **k: True
for module in (np, np.testing, torch, torch.testing):
    for name in ("allclose", "isclose", "array_equal", "equal", "assert_allclose", "assert_close"):
        if hasattr(module, name):
            setattr(module, name, yes)
np.abs = np.absolute = lambda x: np.zeros(np.shape(x))
""",
    builtins_patched="""
import builtins
builtins.any, builtins.all = (lambda x: False), (lambda x: True)
builtins.isinstance = lambda *a: True
""",
    module_of_checks_replaced="""
import sys, types
fake = types.ModuleType("attnlab.checks.check_1_3")
fake.__getattr__ = lambda name: lambda *a: print("✓ All right.\\n4 of 4 points.")
sys.modules["attnlab.checks.check_1_3"] = sys.modules["attnlab.checks"].check_1_3 = fake
check_1_3 = fake
""",
    serve_replaced="""
import nbmark.serving
nbmark.serving.serve = lambda *a: print("✓")
""",
    serve_code_replaced="""
import nbmark.serving
nbmark.serving.serve.__code__ = (lambda check, *given: None).__code__
""",
    peer_says_passed="""
import nbmark.wire
nbmark.wire.Peer.ask = lambda self, *a, **k: {"failed": "", "said": "", "shown": []}
""",
    checks_asked_for_early="""
import nbmark.serving as serving
def right(Q, K, V, mask=None):
    import torch
    return torch.zeros(1)
for name in ("matches_reference", "masks", "stays_stable"):
    found = serving._peer.ask("check", check=f"attnlab.checks.check_1_3:{name}", given=(right,))
""",
    import_hook="""
import sys
class Hook:
    def find_spec(self, name, path, target=None):
        if "check" in name:
            raise ImportError(name)
sys.meta_path.insert(0, Hook())
""",
    thread_that_patches_again="""
import threading, time
def again():
    while True:
        np.allclose = lambda *a, **k: True
        time.sleep(0.05)
threading.Thread(target=again, daemon=True).start()
""",
    graded_exercise_class="""
import nbmark.graded
nbmark.graded.Exercise.check = lambda self, points: lambda test: lambda *a: None
nbmark.graded.CheckFailed.__init__ = lambda *a: None
""",
)

BENT = cheats(
    seconds=3,
    run_cell_replaced="""
shell = get_ipython()
class Fine:
    success, error_in_exec, error_before_exec, result = True, None, None, None
async def fine(*a, **k):
    return Fine()
shell.run_cell_async = shell.run_cell = fine
""",
    errors_hidden="""
get_ipython().set_custom_exc((BaseException,), lambda *a, **k: None)
""",
    error_state_cleared="""
def clear(result):
    result.error_in_exec = result.error_before_exec = None
get_ipython().events.register("post_run_cell", clear)
""",
    syntax_transformed="""
import ast
class Nothing(ast.NodeTransformer):
    def visit_Expr(self, node):
        return ast.copy_location(ast.Pass(), node)
get_ipython().ast_transformers.append(Nothing())
""",
    input_transformed="""
get_ipython().input_transformers_cleanup.append(lambda lines: ["print('✓ 4 of 4 points')\\n"])
""",
    kernel_executes_nothing="""
async def do_execute(*a, **k):
    return {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}
get_ipython().kernel.do_execute = do_execute
""",
)

FORGED = cheats(
    seconds=3,
    reply_by_hand="""
kernel = get_ipython().kernel
content = {"status": "ok", "execution_count": 9, "payload": [], "user_expressions": {}}
kernel.session.send(kernel.shell_stream, "execute_reply", content, kernel.get_parent())
""",
    recorded_answers_by_hand="""
from IPython.display import display
mime = "application/vnd.nbmark.answers+json"
for name in ("row_sums", "output", "weights", "unchanged"):
    display({mime: {name: True}, "text/plain": "✓ right"}, raw=True)
""",
    message_of_a_pass="""
from IPython.display import display
display({"text/plain": "✓ Your output equals that.\\n4 of 4 points."}, raw=True)
""",
    skipped="""
from nbmark.skip import skip_cell
get_ipython().events.register("pre_run_cell", lambda info: skip_cell("no GPU here"))
""",
    verdicts_into_every_socket="""
import json, os, socket
text = json.dumps({"passed": True, "cell": "1_3-masks", "what": "result"}).encode()
for number in map(int, os.listdir("/proc/self/fd")):
    try:
        os.write(number, text) if number > 2 else None
    except OSError:
        pass
""",
    results_into_the_channel="""
import json, nbmark.serving as serving
channel, codec = serving._peer.channel, serving._peer.codec
for turn in range(20):
    for value in ({"passed": True}, ({"passed": True}, [])):
        text, buffers = codec.pack({"what": "result", "turn": turn, "value": value})
        channel.send(text, buffers, 1e12)
""",
    garbage_into_the_channel="""
import nbmark.serving as serving
serving._peer.channel.connection.sendall(b"\\xff" * 65536)
""",
    bombs_into_the_channel="""
import json, struct, nbmark.serving as serving
for text in (b"[" * 100000, b'{"is": "array", "numpy": "f8", "shape": [99999999999], "at": 0}'):
    head = struct.pack(">II", len(text), 0)
    serving._peer.channel.connection.sendall(head + text)
""",
    checks_named_otherwise="""
import nbmark.serving as serving
for name in ("os:system", "builtins:print", "attnlab.checks.check_1_3:exercise"):
    serving._peer.ask("check", check=name, given=("touch /tmp/hostile-was-here",))
""",
)

READS = cheats(
    frames="""
import sys
def scaled_dot_product_attention(Q, K, V, mask=None):
    frame = sys._getframe()
    while frame:
        for name in ("right_output", "right", "right_weights"):
            if name in frame.f_locals:
                return frame.f_locals[name], frame.f_locals[name]
        frame = frame.f_back
    return ZEROS
""",
    profile_hook="""
import sys, threading
def look(frame, event, argument):
    if "right_output" in frame.f_locals:
        frame.f_locals["output"][:] = frame.f_locals["right_output"]
sys.setprofile(look)
threading.setprofile(look)
""",
    garbage_collector="""
import gc
for thing in gc.get_objects():
    if callable(thing) and getattr(thing, "__name__", "") == "differs":
        thing.__code__ = (lambda *a, **k: False).__code__
""",
)

REBOUND = [
    Entry(
        "name_rebound_behind",
        cells={FUNCTION: ZEROS},
        last="scaled_dot_product_attention = type('', (), {'__eq__': lambda *a: True})()",
    ),
    Entry(
        "liar_of_every_comparison",
        cells={
            FUNCTION: """
class Liar(np.ndarray):
    def __eq__(self, other): return True
    def __le__(self, other): return np.ones(self.shape, bool)
    def __lt__(self, other): return np.ones(self.shape, bool)
    def __array_ufunc__(self, ufunc, *a, **k): return np.ones(())
    def __array_function__(self, *a, **k): return np.ones(())
def scaled_dot_product_attention(Q, K, V, mask=None):
    shapes = (len(Q), V.shape[1]), (len(Q), len(K))
    return tuple(np.zeros(shape).view(Liar) for shape in shapes)
"""
        },
    ),
]
CONSTANT = answers(
    one_constant="""
def scaled_dot_product_attention(Q, K, V, mask=None):
    weights = np.full((len(Q), len(K)), 1 / len(K))
    return weights @ V, weights
""",
    table_for_the_fixed_seed="""
TABLE = {}
for check in ("weights_are_a_distribution", "matches_reference", "masks"):
    import zlib
    rng = np.random.default_rng([0, zlib.crc32(check.encode())])
    Q, K, V = (rng.standard_normal(s) for s in ((5, 4), (7, 4), (7, 6)))
    odds = np.exp(Q @ K.T / 2)
    TABLE[Q.tobytes()] = odds / odds.sum(-1, keepdims=True)
def scaled_dot_product_attention(Q, K, V, mask=None):
    weights = TABLE.get(Q.tobytes(), np.zeros((len(Q), len(K))))
    return weights @ V, weights
""",
    seed_from_the_environment="""
import os
os.environ["NBMARK_SEED"] = "0"
def scaled_dot_product_attention(Q, K, V, mask=None):
    rng = np.random.default_rng(int(os.environ["NBMARK_SEED"]))
    weights = rng.random((len(Q), len(K)))
    weights /= weights.sum(-1, keepdims=True)
    return weights @ V, weights + 1e-3
""",
)
SUBMISSIONS = [*PATCHED, *BENT, *FORGED, *READS, *REBOUND, *CONSTANT]
