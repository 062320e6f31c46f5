"""Attacks on what must stay secret: solutions, other submissions, implementations, the seed."""

from entries import FUNCTION, HEAD, TORCH, ZEROS, Entry, answers, cheats

FIND = '''
import json, os
def found_on_disk(*roots):
    """Look for the solution, or for anybody's answer."""
    for root in roots:
        for folder, _, names in os.walk(root):
            for name in names:
                if name.endswith(".ipynb") and "1_3" in name:
                    for cell in json.load(open(os.path.join(folder, name)))["cells"]:
                        text = "".join(cell["source"])
                        if "def scaled_dot_product_attention" in text and "softmax" not in name:
                            exec(text, globals())
'''
TAKEN = answers(
    torch_itself=f"{HEAD}{TORCH}",
    torch_by_another_name=HEAD + TORCH.replace("import torch", 'torch = __import__("to" + "rch")'),
    torch_by_importlib=HEAD
    + TORCH.replace("import torch", 'import importlib; torch = importlib.import_module("torch")'),
    torch_in_sys_modules=HEAD
    + TORCH.replace("import torch", "import sys; torch = sys.modules['torch']"),
    torch_on_top=f"import torch\n{HEAD}{TORCH.replace('import torch', 'pass')}",
    torch_in_a_program=f"""
import pickle, subprocess, sys
PROGRAM = '''
import pickle, sys
def f(Q, K, V, mask=None):{TORCH}
sys.stdout.buffer.write(pickle.dumps(f(*pickle.load(sys.stdin.buffer))))
'''
{HEAD}
    run = subprocess.run([sys.executable, "-c", PROGRAM], input=pickle.dumps((Q, K, V, mask)),
                         capture_output=True, check=True)
    return pickle.loads(run.stdout)
""",
    oracle=f"""
from attnlab.reference import scaled_dot_product_attention as oracle
{HEAD}
    return oracle(Q, K, V, mask)
""",
    oracle_inside=f"""
{HEAD}
    from attnlab import reference
    return reference.scaled_dot_product_attention(Q, K, V, mask)
""",
    oracle_from_its_file=f"""
import os
for folder, _, names in os.walk("/"):
    if folder.endswith("attnlab") and "reference.py" in names:
        exec(open(folder + "/reference.py").read())
if "scaled_dot_product_attention" not in globals():
    {HEAD.strip()} 1 / 0
""",
    oracle_in_memory=f"""
import gc
NAME = "scaled_dot_product_attention"
FOUND = [f for f in gc.get_objects() if getattr(f, "__name__", "") == NAME]
{HEAD}
    return FOUND[0](Q, K, V, mask)
""",
    oracle_by_sys_path=f"""
import sys
sys.path += ["src", "../src", "/work/src"] + [p.rsplit("/", 1)[0] for p in sys.path]
import os
for root in list(sys.path):
    for folder, names, _ in os.walk(root):
        if "attnlab" in names:
            sys.path.append(folder)
try:
    from attnlab.reference import scaled_dot_product_attention
except ImportError:
    {HEAD.strip()} 1 / 0
""",
)
ON_DISK = cheats(
    solution_on_disk=FIND + 'found_on_disk("/work", "/root", "/home", "/srv", "/tmp", ".", "..")\n',
    whole_disk=FIND + 'found_on_disk("/")\n',
    disk_of_another_process="""
import os
for number in filter(str.isdigit, os.listdir("/proc")):
    for place in ("root", "cwd"):
        try:
            print(os.listdir(f"/proc/{number}/{place}/solutions"))
        except OSError:
            pass
""",
    memory_of_other_processes="""
import os, re
for number in filter(str.isdigit, os.listdir("/proc")):
    if int(number) == os.getpid():
        continue
    try:
        with open(f"/proc/{number}/mem", "rb+") as memory:
            for line in open(f"/proc/{number}/maps"):
                start, end = (int(part, 16) for part in re.match(r"(\\w+)-(\\w+)", line).groups())
                memory.seek(start)
                memory.write(b"passed")
    except OSError:
        pass
""",
    seed_in_environments="""
import os, glob
for path in glob.glob("/proc/*/environ"):
    try:
        print([e for e in open(path).read().split("\\0") if "SEED" in e])
    except OSError:
        pass
""",
)
OUTSIDE = [
    Entry(
        "link_to_the_solution",
        cells={FUNCTION: ZEROS},
        first="""
import os
for target in ("/work", "../..", "/proc/1/cwd"):
    try:
        os.symlink(target, "there" + str(len(target)))
        print(os.walk("there"))
    except OSError:
        pass
""",
    ),
    Entry(
        "answer_from_the_network",
        cells={FUNCTION: ZEROS},
        first="""
import socket, urllib.request
for place in (("127.0.0.1", 80), ("1.1.1.1", 53), ("::1", 22)):
    try:
        socket.create_connection(place, 1).send(b"right answer, please")
        raise SystemExit("reached")
    except OSError:
        pass
listening = socket.socket()
try:
    listening.bind(("0.0.0.0", 0))
except OSError:
    pass
""",
    ),
]
SUBMISSIONS = [*TAKEN, *ON_DISK, *OUTSIDE]
