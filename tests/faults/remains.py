"""What a command has left: processes, mounts, files, records, and the counted calls of its programs."""
import csv
import hashlib
import json
import os
import pathlib
import re
import signal
import time


STATUSES = {'OK', 'SKIPPED', 'DIVERGED', 'OUT_OF_MEMORY', 'TIMEOUT', 'HUNG', 'CRASHED', 'INVALID'}


def text_of(path):
    try:
        return pathlib.Path(path).read_text(errors='replace')
    except OSError:
        return ''


def processes():
    """Every other process of this namespace, zombies (which process 1 has yet to reap) apart."""
    found = []
    for entry in os.listdir('/proc'):
        if entry.isdigit() and int(entry) != os.getpid():
            stat = text_of(f'/proc/{entry}/stat')
            if stat and stat.rpartition(')')[2].split()[0] not in 'ZX':
                found.append((int(entry), text_of(f'/proc/{entry}/cmdline').replace('\0', ' ').strip() or stat.split()[1]))
    return found


def reap():
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def plain(name):
    """A file's name without numbers that differ from run to run (process, time, random letters)."""
    return re.sub(r'(?<=[-.])[A-Za-z0-9]{6}$', 'XXXXXX', re.sub(r'\d+', 'N', re.sub(r'(?<=index-)[0-9a-f]{16}', 'N', str(name))))


def mounts():
    return [line.split()[1] for line in text_of('/proc/self/mounts').splitlines()]


def send(targets, number):
    for pid in targets:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def left_behind(trial, there):
    """Processes, mounts but those that were there before, shared memory, temporary files, network interfaces and locks."""
    for _ in range(100):
        reap()
        if not processes():
            break
        time.sleep(0.1)
    left = [f'process {line[:200]}' for _, line in processes()]
    send([pid for pid, _ in processes()], signal.SIGKILL)
    left += [f'mount {place}' for place in mounts() if place not in there]
    for place in ('/dev/shm', trial / 'tmp'):
        for folder, folders, files in os.walk(place):
            left += [f'file {os.path.join(folder, name)}' for name in files]
            left += [f'folder {os.path.join(folder, name)}' for name in folders]
    interfaces = [line.split(':')[0].strip() for line in text_of('/proc/net/dev').splitlines()[2:]]
    left += [f'interface {name}' for name in interfaces if name != 'lo']
    return sorted({plain(entry.replace(str(trial), 'T')) for entry in left})


def digest(folder):
    """Of all files with measurements below a folder, by path: what a command that only reads must not change."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob('*')) if path.is_file() and path.suffix in ('.jsonl', '.json') and
            'plots' not in path.parts and not path.name.startswith(('article', 'table'))}


def records(folder):
    """(records, what is wrong with them)"""
    found, wrong = [], []
    data = text_of(folder / 'records.jsonl')
    if data and not data.endswith('\n'):
        wrong.append('records.jsonl ends within a line')
    for number, line in enumerate(data.splitlines(), 1):
        try:
            record = json.loads(line)
        except ValueError:
            wrong.append(f'records.jsonl:{number} is no JSON')
            continue
        found.append(record)
        who, status = f'row {record.get("row")}', record.get('status')
        if status not in STATUSES:
            wrong.append(f'{who} has the status {status}')
        if status == 'OK' and not record.get('total_s', 0) > 0:
            wrong.append(f'{who} is OK without a figure')
        if status != 'OK' and 'total_s' in record:
            wrong.append(f'{who} is {status} and has a figure')
        if status not in ('OK', None) and not record.get('reason'):
            wrong.append(f'{who} is {status} without a reason')
    return found, wrong


MEASURED = re.compile('_(s|ms|share|second|image|memory)$|^(rho_1|tau_int|n_eff|trained|flags|drift_.*|ratio_.*|median_within.*)$')


def table(folder):
    """The rows of table.csv without what is measured: what a resumed run and an undisturbed one have in common."""
    lines = csv.DictReader(text_of(folder / 'table.csv').splitlines())
    return [{name: value for name, value in line.items() if not MEASURED.search(name)} for line in lines]


def counts(folder):
    """{program: {kind: most calls of one process}}"""
    kinds = text_of(folder / 'kinds').split()
    most = {}
    for path in folder.glob('counts.*'):
        data, program = path.read_bytes(), path.name.split('.')[1]
        for index, kind in enumerate(kinds):
            number = int.from_bytes(data[8 * index:8 * index + 8], 'little')
            if number:
                known = most.setdefault(program, {})
                known[kind] = max(known.get(kind, 0), number)
    return most


def places(folder):
    """{program: {kind: places from which one of its processes made such a call}}"""
    found = {}
    for path in sorted(folder.glob('places.*')):
        for kind, place in (line.split() for line in text_of(path).splitlines()):
            known = found.setdefault(path.name.split('.')[1], {}).setdefault(kind, [])
            known += [place] if place not in known else []
    return found
