"""A training command that is none: writes what the probe would report of a job with these times, at once.

usage: fake_job.py [KEY=VALUE...]
  load=MS      work of the loader for a batch, shared by its workers
  compute=MS   of a step, of which `fixed` (0-1) doesn't depend on the batch
  exchange=MS  of the gradients, with world > 1
  lag=MS       more for the last rank
  log=MS       of output in each step, whatever its batch
  group=NAME   of a control group in which the computing takes twice as long
  workers=N  world=N  workers_help=no (more of them load no faster)
  daemon=WORD  leaves a process that lives on      chdir=FOLDER  goes there before it reports
  refuses=NAME of a change of the whole process, which the probe refuses
  fails=CHANGE (the job ends with an exception)  writes=FILE  fills=FILE  steps=no|hang
  length=N     iterations, then it ends by itself
"""
import json
import os
import random
import sys
import time

job = dict(load=5.0, compute=20.0, fixed=0.0, exchange=0.0, lag=0.0, log=0.0, workers=2, world=1, length=1_000_000)
for word in sys.argv[1:]:
    key, value = word.split("=", 1)
    job[key] = type(job[key])(value) if key in job else value

if "writes" in job:
    with open(job["writes"], "w") as file:
        file.write("checkpoint")
if "fills" in job:
    with open(job["fills"], "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 1 << 44)
if "daemon" in job and os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.chdir(job.get("chdir", "."))
if job.get("steps") == "no":
    print("nothing to do")
    sys.exit(4)
if job.get("steps") == "hang":
    time.sleep(600)

folder = os.environ["RUN_MATRIX_PROBE"]
with open(os.path.join(folder, "plan.json")) as file:
    plan = json.load(file)
BATCH = 32
with open("/proc/self/cgroup") as file:
    if job.get("group", "\n\n") in file.read():
        job["compute"] *= 2


def step_ms(change, workers, rank):
    """The time of an iteration, and the part of it that waits for the loader."""
    compute = job["compute"] + (job["lag"] if rank == job["world"] - 1 else 0)
    compute += {"added_step_time": change.get("added_ms", 0)}.get(change["change"], 0)
    if change["change"] != "no_collectives" and job["world"] > 1:
        compute = job["compute"] + job["lag"] + job["exchange"]  # all wait for the slowest
    load = job["load"] / workers if workers and job.get("workers_help") != "no" else job["load"]
    if change["change"] == "loader_alone":
        return load, load
    log = 0 if change["change"] == "no_logging" else job["log"]
    if change["change"] == "double_batch":
        return compute * (2 - job["fixed"]) + log, 0
    compute += log
    if change["change"] in ("replayed", "double_batch"):
        return compute, 0
    wait = load if workers == 0 else max(0, load - compute)
    return compute + wait, wait


for rank in range(job["world"]):
    generator = random.Random(os.getpid() * 100 + rank)
    workers = plan["process"].get("workers", job["workers"])
    lines = [
        {"kind": "start", "pid": os.getpid(), "rank": rank, "world": job["world"], "host": "here", "python": "3.11",
         "torch": "2.11", "device": "cpu", "cores": 2, "threads": 2},
        {"kind": "loader", "name": "loader 0", "workers": workers, "batch": BATCH, "prefetch_factor": 2,
         "dataset": "Fake", "role": "training", "shapes": "[32,3,8,8] float32", "bytes": 24576},
    ]
    if job.get("refuses") in plan["process"]:
        lines.append({"kind": "impossible", "change": job["refuses"], "why": "it has no such form"})
    failed = ended = False
    made = plan["warmup"]
    for index, segment in enumerate(plan["segments"]):
        lines.append({"kind": "begin", "index": index, "change": segment["change"]})
        if segment["change"] == job.get("fails"):
            failed = True
            break
        made += 2 + segment["steps"]
        if made > job["length"]:
            ended = True
            break
        steps = []
        for number in range(made - segment["steps"], made):
            wall, load = step_ms(segment, workers, rank)
            noise = generator.gauss(1, 0.005)
            items = 2 * BATCH if segment["change"] == "double_batch" else BATCH
            steps.append({"wall_ms": wall * noise, "load_ms": load * noise, "forward_ms": (wall - load) * noise,
                          "items": items, "loss": 4 - number * 0.01})
        lines.append({"kind": "segment", "index": index, "change": segment["change"], "block": segment["block"],
                      "added_ms": segment.get("added_ms", 0), "items": sum(step["items"] for step in steps),
                      "updates": len(steps), "settled": 2, "excluded": 0, "steps": steps})
    if not failed:
        lines.append({"kind": "end", "why": "exit" if ended else "done", "iterations": min(made, job["length"]),
                      "self_us": 12.5})
    with open(os.path.join(folder, f"rank-{rank}-{os.getpid()}.jsonl"), "w") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
if failed:
    raise RuntimeError("the batch has the wrong size")
