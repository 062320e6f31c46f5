"""Attacks on others and on the machine: files, processes, memory, time. And honest mistakes.

VICTIM stands for a folder of the marking side. What would harm a machine without walls first looks
whether it is behind them: its process has one of the first numbers there.
"""

from entries import ALL, FUNCTION, RIGHT, ZEROS, Entry, answers, cheats

BEHIND_WALLS = "import os\nassert os.getpid() < 20, 'there are no walls'\n"

FILES = cheats(
    neighbours_deleted="""
import shutil
shutil.rmtree("VICTIM", ignore_errors=True)
""",
    neighbours_rewritten="""
import glob
for path in glob.glob("VICTIM/**", recursive=True):
    try:
        open(path, "w").write("{}")
    except OSError:
        pass
""",
    everything_deleted=BEHIND_WALLS
    + """
import subprocess
subprocess.run("rm -rf --no-preserve-root /", shell=True, capture_output=True)
""",
    packages_patched="""
import glob, sys
for root in sys.path:
    for name in ("sitecustomize.py", "attnlab/checks/hostile.py", "nbmark/hostile-was-here"):
        try:
            open(f"{root}/{name}", "w").write("import os")
        except OSError:
            pass
""",
    start_files_left_behind="""
import os
for path in ("~/.ipython/profile_default/startup/a.py", "~/.bashrc", "~/conftest.py", "~/numpy.py"):
    path = os.path.expanduser(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write("raise SystemExit")
""",
    results_written="""
import os
for folder in (".", "..", "/tmp", "VICTIM"):
    for name in ("p.csv", ".p.csv.part", "gradebook.csv", "journal.jsonl", "conftest.py"):
        try:
            open(os.path.join(folder, name), "w").write("student,total\\nme,99")
        except OSError:
            pass
""",
    sockets_taken="""
import os
for name in os.listdir("/sockets"):
    try:
        os.rename(f"/sockets/{name}", f"/sockets/{name}x")
        os.rename(f"/sockets/{name}x", f"/sockets/{name}")
        os.symlink("VICTIM", f"/sockets/link{name}")
    except OSError:
        pass
""",
)
PROCESSES = cheats(
    everybody_killed=BEHIND_WALLS
    + """
import signal
for number in range(2, 400):
    if number != os.getpid():
        try:
            os.kill(number, signal.SIGKILL)
        except OSError:
            pass
""",
    parent_killed=BEHIND_WALLS + "import signal\nos.kill(os.getppid() or 1, signal.SIGTERM)\n",
    daemon_left_behind="""
import subprocess
subprocess.Popen("setsid nohup sh -c 'exec sleep 4321' >/dev/null 2>&1 &", shell=True)
""",
    fork_left_behind="""
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(4321)
    os._exit(0)
""",
    fork_bomb=BEHIND_WALLS
    + """
import time
for _ in range(1000):
    try:
        if os.fork() == 0:
            time.sleep(4321)
            os._exit(0)
    except OSError:
        break
""",
    privileges_asked_for="""
import ctypes
libc = ctypes.CDLL(None)
print(libc.setuid(0), libc.unshare(0x10020000), libc.mount(b"/", b"/tmp", None, 4096, None))
print(libc.ptrace(16, 1, 0, 0), libc.chroot(b"/proc/1/root"))
""",
)
USED_UP = cheats(
    disk_filled="""
block = b"x" * (1 << 20)
for name in ("a", "/tmp/b", "/sockets/c"):
    try:
        with open(name, "wb") as file:
            for _ in range(600):
                file.write(block)
    except OSError:
        pass
""",
    memory_filled="""
try:
    kept = bytearray(1 << 36)
except MemoryError:
    print("no more")
""",
    outputs_flooding="""
line = "x" * 100000
for _ in range(3000):
    print(line)
""",
    deep_output="""
from IPython.display import display
deep = []
for _ in range(500):
    deep = [deep]
display({"application/json": deep, "text/plain": "\\x1b]0;owned\\x07\\x1b[2J"}, raw=True)
""",
    recursion="""
def deeper(n):
    return deeper(n + 1)
deeper(0)
""",
)
NO_END = [
    Entry(
        "loop_without_end", cells={FUNCTION: f"{ZEROS}\nimport time\ntime.sleep(4321)"}, seconds=3
    ),
    Entry(
        "loop_that_catches_everything",
        cells={FUNCTION: ZEROS},
        first="""
import time
while True:
    try:
        time.sleep(4321)
    except BaseException:
        pass
""",
        seconds=3,
    ),
    Entry(
        "check_that_never_ends",
        cells={FUNCTION: f"{ZEROS.replace('return', 'import time; time.sleep(4321); return')}"},
        seconds=3,
    ),
    Entry("kernel_ends", cells={FUNCTION: ZEROS}, first="import os\nos._exit(0)"),
    Entry("kernel_stops", cells={FUNCTION: ZEROS}, first="import ctypes\nctypes.string_at(0)"),
    Entry(
        "files_closed",
        cells={FUNCTION: ZEROS},
        first="import os\nos.closerange(3, 30)\n",
        seconds=3,
    ),
]
BASE_EXCEPTIONS = answers(
    ends_when_called="""
def scaled_dot_product_attention(Q, K, V, mask=None):
    raise SystemExit(0)
""",
    kills_when_called="""
def scaled_dot_product_attention(Q, K, V, mask=None):
    import os
    os._exit(0)
""",
    infinite_answer="""
def scaled_dot_product_attention(Q, K, V, mask=None):
    a = []
    a.append(a)
    return a, a
""",
)
ONES = ("weights_unscaled", "weights_scaled", "output_unscaled", "output_scaled")
OTHERS = [
    Entry(
        "numbers_that_equal_everything",
        "1_1_by_hand",
        {
            "1_1-weights-unscaled-answer": """
class Any(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    __rsub__ = __abs__ = __sub__
    def __le__(self, other): return True
weights_unscaled = [[Any(9)] * 3] * 2
""",
            "1_1-weights-scaled-answer": "weights_scaled = [[float('nan')] * 3] * 2",
            "1_1-output-unscaled-answer": "output_unscaled = 10 ** 400",
            "1_1-output-scaled-answer": "output_scaled = range(6)",
            "1_1-entropy-unscaled-answer": "entropy_unscaled = check_1_1",
            "1_1-entropy-scaled-answer": "entropy_scaled = iter([1.053, 1.053])",
        },
    ),
    Entry(
        "model_and_inputs_invented",
        "1_2_causal_mask",
        {
            "1_2-maps": """
class Flat:
    def __call__(self, *args):
        return torch.zeros(1, 12, 64), torch.full((1, 4, 12, 12), 1 / 12)
mha, x = Flat(), torch.zeros(1, 12, 64)
w_full = torch.full((12, 12), 1 / 12)
w_causal = torch.ones(12, 12).tril() / torch.arange(1, 13)[:, None]
"""
        },
    ),
    Entry(
        "maps_of_the_model_handed_out",
        "1_2_causal_mask",
        {
            "1_2-maps": """
torch.manual_seed(0)
mha = MultiHeadAttention(d_model=64, n_heads=4).eval()
x = torch.randn(1, 12, 64)
w_full = mha(x, x, x)[1][0, 0].detach()
w_causal = mha(x, x, x, make_causal_mask(12))[1][0, 0].detach()
"""
        },
    ),
    Entry(
        "probes_looked_at",
        "1_2_causal_mask",
        {
            "1_2-leak": """
def max_leak(mha, x, mask):
    for name in ("reads", "start", "calls"):
        if hasattr(mha, name):
            return float(mha.reads.triu(1).max())
    return 0.0 if mask is not None and not mask.triu(1).any() else 1.0
""",
            "1_2-future": """
def max_future_weight(weights):
    import gc
    found = [o for o in gc.get_objects() if isinstance(o, dict) and "right" in o]
    return found[0]["right"] if found else 0.0
""",
        },
    ),
]
HONEST = [
    Entry("right", cells={FUNCTION: RIGHT}, may_earn=ALL),
    Entry(
        "loop_left_over",
        cells={FUNCTION: RIGHT},
        last="import time\ntime.sleep(99)",
        may_earn=ALL,
        seconds=4,
    ),
    Entry("exit_left_over", cells={FUNCTION: RIGHT}, last="exit()", may_earn=ALL),
    Entry(
        "command_left_over",
        cells={FUNCTION: RIGHT},
        first="!ls\n%timeit -n1 -r1 1 + 1",
        may_earn=ALL,
    ),
    Entry("added_cell_fails", cells={FUNCTION: RIGHT}, first="1 / 0", may_earn=ALL),
    Entry(
        "check_called_early", cells={FUNCTION: RIGHT}, first="check_1_3.masks(None)", may_earn=ALL
    ),
    Entry("torch_imported_beside", cells={FUNCTION: f"import torch\n{RIGHT}"}, may_earn=ALL),
    Entry("much_output", cells={FUNCTION: RIGHT}, first="print('x' * 3_000_000)", may_earn=ALL),
    Entry(
        "helper_of_its_own",
        cells={FUNCTION: RIGHT.replace("np.exp(", "powers_of(")},
        first="def powers_of(scores):\n    return np.exp(scores)",
        may_earn=ALL,
    ),
]
SUBMISSIONS = [*FILES, *PROCESSES, *USED_UP, *NO_END, *BASE_EXCEPTIONS, *OTHERS]
