"""One trial: a command runs broken, within namespaces of its own; then what it left is looked at, and it runs again whole.

run_trial() starts this file as process 1 of new process, mount, IPC and network namespaces, so that whatever it finds there
afterwards was left by the command."""
import json
import math
import os
import pathlib
import pty
import resource
import shutil
import signal
import subprocess
import sys
import time

import commands
import disturb
import remains
from remains import text_of


def call(command, words, trial, extra, broken=False):
    """Runs the command's program; (exit code, negative for a signal; all that it printed)."""
    environment = dict(os.environ, RUN_MATRIX_RESULTS=str(trial / 'results'),
                       RUN_MATRIX_DATA=str(trial / 'data'), RUN_MATRIX_PLOTS='specs', RUN_MATRIX_HOST='trial',
                       TMPDIR=str(trial / 'tmp'), HOME=str(trial / 'home'), OMPI_ALLOW_RUN_AS_ROOT='1',
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')
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
                (disturb.cgroup_of(trial) / 'cgroup.procs').write_text(str(os.getpid()))
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
                disturb.close_terminal(process, ours, to, stream, terminal)
            if broken and 'signal' in extra:
                disturb.disturb(process, extra)
            if broken and 'watch' in extra:
                disturb.watch(process, extra['alive'])
            code = process.wait(extra['limit'])
        except subprocess.TimeoutExpired:
            code = f'no end within {extra["limit"]} s'
            waiting = [f'{line} in {text_of(f"/proc/{pid}/wchan")}' for pid, line in remains.processes()]
            (trial / 'waiting.txt').write_text('\n'.join(waiting))
            remains.send([pid for pid, _ in remains.processes()], signal.SIGKILL)
            process.wait()
    return code, text_of(output)


def inside(extra):
    command, trial = commands.COMMANDS[extra['command']], pathlib.Path(extra['folder'])
    subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=False, stderr=subprocess.DEVNULL)
    for place in ('tmp', 'home'):
        (trial / place).mkdir()
    subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={extra.get("shm", "2g")}', 'tmpfs', '/dev/shm'], check=True)
    for place, size in extra.get('disks', {}).items():
        (trial / place).mkdir(exist_ok=True)
        subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size}', 'tmpfs', trial / place], check=True)
    there = remains.mounts()  # those of limited size, and what other programs of the machine have mounted
    given = trial / 'given'
    before = remains.digest(given) if given.exists() else {}
    (trial / 'faults').mkdir()
    if 'memory' in extra.get('limits', {}):
        disturb.limit_memory(disturb.cgroup_of(trial), extra['limits']['memory'])
    extra['alive'] = {}
    started = time.monotonic()
    code, said = call(command, command.words, trial, extra, broken=True)
    seconds = time.monotonic() - started
    hit = text_of(trial / 'faults' / 'hit') or extra.get('hit', '')
    # Nobody sees what it says, or it can't say more; a cut-off character becomes another one.
    mute = 'terminal_s' in extra or len(said.encode()) + 3 >= extra.get('limits', {}).get('RLIMIT_FSIZE', math.inf)
    said = said.replace(str(trial), 'TRIAL')[-20000:]
    result = {'code': code, 'seconds': seconds, 'said': said, 'hit': hit, 'left': remains.left_behind(trial, there),
              'waiting': text_of(trial / 'waiting.txt'), 'alive': extra['alive'],
              'mute': mute}
    if 'memory' in extra.get('limits', {}):
        disturb.cgroup_of(trial).rmdir()
    for place in extra.get('disks', {}):  # the user makes room
        subprocess.run(['mount', '-o', 'remount,size=2g', trial / place], check=True)
    if extra.get('shm'):
        subprocess.run(['mount', '-o', 'remount,size=2g', '/dev/shm'], check=True)
    folder = trial / command.run if command.run else None
    if folder:
        result['records'], result['wrong'] = remains.records(folder)
    if command.reads:
        result['changed'] = sorted(name for name, value in before.items() if remains.digest(given).get(name) != value)
    resumable = folder and ((folder / 'request.json').exists() or text_of(folder / 'records.jsonl') != '')
    again_code, again_said = call(command, command.again if resumable else command.words, trial, extra)
    if again_code == 1 and resumable:  # rows that failed run again only if asked for
        again_code, again_said = call(command, ['--only-failed', str(folder)], trial, extra)
    if folder and (code != 0 or result['left']):  # a further run takes away what a killed one left in memory
        fresh = [word.replace('{T}/run', '{T}/fresh') for word in command.words]
        result['fresh_code'] = call(command, fresh, trial, extra)[0]
    result |= {'again_code': again_code, 'again_said': again_said[-6000:], 'again_left': remains.left_behind(trial, there)}
    if folder:
        result['again_records'], result['again_wrong'] = remains.records(folder)
        result['again_table'] = remains.table(folder)
    result['files'] = sorted({remains.plain(path.relative_to(trial)) for path in trial.rglob('*')
                              if path.is_file() and path.relative_to(trial).parts[0] not in ('faults', 'tmp') and
                              path.name not in ('output.txt', 'again.txt', 'waiting.txt')})
    if extra.get('count'):
        result |= {'counts': remains.counts(trial / 'faults'), 'places': remains.places(trial / 'faults')}
    json.dump(result, sys.stdout)


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
