"""One trial: a command runs broken, within namespaces of its own; then what it left is looked at, and it runs again whole.

run_trial() starts this file as process 1 of new process, mount, IPC and network namespaces, so that whatever it finds there
afterwards was left by the command."""
import hashlib
import json
import math
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import commands

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
    return re.sub(r'(?<=[-.])[A-Za-z0-9]{6}$', 'XXXXXX', re.sub(r'\d+', 'N', str(name)))


def mounts():
    return [line.split()[1] for line in text_of('/proc/self/mounts').splitlines()]


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


def call(command, words, trial, extra, broken=False):
    """Runs the command's program; (exit code, negative for a signal; all that it printed)."""
    environment = dict(os.environ, RUN_MATRIX_RESULTS=str(trial / 'results'),
                       RUN_MATRIX_DATA=str(trial / 'data'), RUN_MATRIX_PLOTS='specs', RUN_MATRIX_HOST='trial',
                       TMPDIR=str(trial / 'tmp'), OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')
    if command.fake:
        environment[commands.FAKE[0]] = os.path.join(extra['build'], commands.FAKE[1])
    if broken:
        environment |= {'LD_PRELOAD': extra['library'], 'FAULTS_FOLDER': str(trial / 'faults'),
                        'FAULTS_PLAN': extra.get('plan', '')} | ({'FAULTS_PLACES': '1'} if 'count' in extra else {})
    output = trial / ('output.txt' if broken else 'again.txt')
    words = [os.path.join(extra['build'], command.program), *commands.in_folder(words, trial)]
    limits = extra.get('limits', {}) if broken else {}

    def become():
        for name, value in limits.items():
            if name == 'memory':
                (cgroup_of(trial) / 'cgroup.procs').write_text(str(os.getpid()))
            else:
                resource.setrlimit(getattr(resource, name), (value, value))
    terminal = extra.get('terminal_s') if broken else None
    with open(output, 'wb') as stream:
        to = stream
        if terminal is not None:
            ours, to = pty.openpty()
            words = ['setsid', '--ctty', *words]
        process = subprocess.Popen(words, env=environment, cwd=trial, stdin=subprocess.DEVNULL if terminal is None else to,
                                   stdout=to, stderr=subprocess.STDOUT, start_new_session=terminal is None, preexec_fn=become)
        try:
            if terminal is not None:
                close_terminal(process, ours, to, stream, terminal)
            if broken and 'signal' in extra:
                disturb(process, extra)
            if broken and 'watch' in extra:
                watch(process, extra['alive'])
            code = process.wait(extra['limit'])
        except subprocess.TimeoutExpired:
            code = f'no end within {extra["limit"]} s'
            waiting = [f'{line} in {text_of(f"/proc/{pid}/wchan")}' for pid, line in processes()]
            (trial / 'waiting.txt').write_text('\n'.join(waiting))
            send([pid for pid, _ in processes()], signal.SIGKILL)
            process.wait()
    return code, text_of(output)


def memory_cgroup():
    """The folder in which a group with a limit of memory can be made; empty if there is none."""
    for folder in ('/sys/fs/cgroup/memory', '/sys/fs/cgroup'):
        if os.access(f'{folder}/cgroup.procs', os.W_OK) and os.path.exists(f'{folder}/memory.stat'):
            return folder
    return ''


def cgroup_of(trial):
    return pathlib.Path(memory_cgroup()) / f'{trial.parent.name}-{trial.name}'


def limit_memory(cgroup, limit):
    cgroup.mkdir()
    for file in ('memory.limit_in_bytes', 'memory.max'):
        if (cgroup / file).exists():
            (cgroup / file).write_text(str(limit))
    for file in ('memory.memsw.limit_in_bytes', 'memory.swap.max'):  # else what is over the limit is swapped
        if (cgroup / file).exists():
            (cgroup / file).write_text(str(limit) if 'memsw' in file else '0')


def close_terminal(process, ours, theirs, stream, after_s):
    """Keeps what the command prints on its terminal, and closes that after some seconds, as when a window is closed."""
    os.close(theirs)

    def copy():
        try:
            while data := os.read(ours, 65536):
                stream.write(data)
        except OSError:
            pass
    reader = threading.Thread(target=copy, daemon=True)
    reader.start()
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        pass
    os.close(ours)
    stream.flush()


def disturb(process, extra):
    """Sends extra['signal'] to a process of extra['target'] (a program's name) after extra['after_s'] seconds."""
    try:
        process.wait(extra['after_s'])
        return
    except subprocess.TimeoutExpired:
        pass
    if extra['target'] == 'link':
        extra['hit'] = disturb_link(extra['signal'])
        return
    name, number, targets = extra['target'], getattr(signal, extra['signal']), []
    while not targets and process.poll() is None:  # it may come a little later than in the undisturbed run
        targets = [process.pid] if name == 'command' else \
            [pid for pid, line in processes() if name in ('all', program_of(line))]
        time.sleep(0 if targets else 0.005)
    targets = targets if name == 'all' else targets[:1]
    extra['hit'] = len(targets)
    send(targets, number)
    if number == signal.SIGSTOP:  # as a machine that stands still for a while
        time.sleep(3)
        send(targets, signal.SIGCONT)


def program_of(line):
    return os.path.basename(line.split(' ')[0]).rstrip(':')


def watch(process, alive):
    """Keeps for each program, in seconds since now, when the first of its processes came and the last was seen."""
    started = time.monotonic()
    while process.poll() is None:
        now = time.monotonic() - started
        for _, line in processes():
            alive.setdefault(program_of(line), [now, now])[1] = now
        time.sleep(0.01)


# What happens to the interface of a row's node: it goes down; it delays whatever is sent, and drops what doesn't fit into a
# short queue; with a kernel that has netem, packets are lost, late and in another order.
LINKS = {'down': 'ip link set {} down', 'full': 'tc qdisc replace dev {} root tbf rate 20mbit burst 2kb limit 20kb',
         'lossy': 'tc qdisc replace dev {} root netem delay 20ms 10ms loss 2% reorder 20%'}


def disturb_link(how):
    """1 if one of the row's nodes had an interface to which it was done."""
    here = os.readlink('/proc/self/ns/net')
    for pid, line in processes():
        try:
            if 'train_slice' not in line or os.readlink(f'/proc/{pid}/ns/net') == here:
                continue
        except OSError:
            continue
        for entry in text_of(f'/proc/{pid}/net/dev').splitlines()[2:]:
            if (interface := entry.split(':')[0].strip()) != 'lo':
                words = ['nsenter', '-t', str(pid), '-n', *LINKS[how].format(interface).split()]
                return int(subprocess.run(words, stderr=subprocess.DEVNULL, check=False).returncode == 0)
    return 0


def send(targets, number):
    for pid in targets:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def inside(extra):
    command, trial = commands.COMMANDS[extra['command']], pathlib.Path(extra['folder'])
    subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=False, stderr=subprocess.DEVNULL)
    (trial / 'tmp').mkdir()
    subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={extra.get("shm", "2g")}', 'tmpfs', '/dev/shm'], check=True)
    for place, size in extra.get('disks', {}).items():
        (trial / place).mkdir(exist_ok=True)
        subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size}', 'tmpfs', trial / place], check=True)
    there = mounts()  # those of limited size, and what other programs of the machine have mounted
    given = trial / 'given'
    before = digest(given) if given.exists() else {}
    (trial / 'faults').mkdir()
    if 'memory' in extra.get('limits', {}):
        limit_memory(cgroup_of(trial), extra['limits']['memory'])
    extra['alive'] = {}
    started = time.monotonic()
    code, said = call(command, command.words, trial, extra, broken=True)
    seconds = time.monotonic() - started
    hit = text_of(trial / 'faults' / 'hit') or extra.get('hit', '')
    # Nobody sees what it says, or it can't say more; a cut-off character becomes another one.
    mute = 'terminal_s' in extra or len(said.encode()) + 3 >= extra.get('limits', {}).get('RLIMIT_FSIZE', math.inf)
    said = said.replace(str(trial), 'TRIAL')[-20000:]
    result = {'code': code, 'seconds': seconds, 'said': said, 'hit': hit, 'left': left_behind(trial, there),
              'waiting': text_of(trial / 'waiting.txt'), 'alive': extra['alive'],
              'mute': mute}
    if 'memory' in extra.get('limits', {}):
        cgroup_of(trial).rmdir()
    for place in extra.get('disks', {}):  # the user makes room
        subprocess.run(['mount', '-o', 'remount,size=2g', trial / place], check=True)
    if extra.get('shm'):
        subprocess.run(['mount', '-o', 'remount,size=2g', '/dev/shm'], check=True)
    folder = trial / command.run if command.run else None
    if folder:
        result['records'], result['wrong'] = records(folder)
    if command.reads:
        result['changed'] = sorted(name for name, value in before.items() if digest(given).get(name) != value)
    resumable = folder and ((folder / 'request.json').exists() or text_of(folder / 'records.jsonl') != '')
    again_code, again_said = call(command, command.again if resumable else command.words, trial, extra)
    if again_code == 1 and resumable:  # rows that failed run again only if asked for
        again_code, again_said = call(command, ['--only-failed', str(folder)], trial, extra)
    if folder and (code != 0 or result['left']):  # a further run takes away what a killed one left in memory
        fresh = [word.replace('{T}/run', '{T}/fresh') for word in command.words]
        result['fresh_code'] = call(command, fresh, trial, extra)[0]
    result |= {'again_code': again_code, 'again_said': again_said[-6000:], 'again_left': left_behind(trial, there)}
    if folder:
        result['again_records'], result['again_wrong'] = records(folder)
    result['files'] = sorted({plain(path.relative_to(trial)) for path in trial.rglob('*')
                              if path.is_file() and path.relative_to(trial).parts[0] not in ('faults', 'tmp') and
                              path.name not in ('output.txt', 'again.txt', 'waiting.txt')})
    if extra.get('count'):
        result |= {'counts': counts(trial / 'faults'), 'places': places(trial / 'faults')}
    json.dump(result, sys.stdout)


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


def run_trial(extra):
    """The result of inside(), in a child with namespaces of its own."""
    folder = pathlib.Path(extra['folder'])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ('given', 'other') if extra.get('given') else ():
        shutil.copytree(extra['given'], folder / name)
    fresh = commands.COMMANDS[extra['command']].fresh and not extra.get('plan', '').startswith('run_matrix')
    if extra.get('data') and not fresh:
        shutil.copytree(extra['data'], folder / 'data')
    words = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--ipc', '--net', '--fork', '--kill-child',
             '--mount-proc', sys.executable, __file__, json.dumps(extra)]
    finished = subprocess.run(words, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise RuntimeError(f'the trial itself failed: {finished.stderr}')
    return json.loads(finished.stdout)


if __name__ == '__main__':
    inside(json.loads(sys.argv[1]))
