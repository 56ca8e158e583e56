"""What happens to a command while it runs: signals, a limit of memory, a terminal that is closed, a link that fails."""
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

from remains import processes, send, text_of


def program_of(line):
    return os.path.basename(line.split(' ')[0]).rstrip(':')


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
        if name == 'command':
            targets = [process.pid]
        elif name == 'node':
            ranks = ranks_of_nodes()
            targets = [pid for pid, namespace in ranks if namespace == ranks[0][1]]
        else:
            targets = [pid for pid, line in processes() if name in ('all', program_of(line))]
        time.sleep(0 if targets else 0.005)
    targets = targets if name in ('all', 'node') else targets[:1]
    extra['hit'] = len(targets)
    send(targets, number)
    if number == signal.SIGSTOP:  # as a machine that stands still for a while
        time.sleep(3)
        send(targets, signal.SIGCONT)


def watch(process, alive):
    """Keeps for each program, in seconds since now, when the first of its processes came and the last was seen."""
    started = time.monotonic()
    while process.poll() is None:
        now = time.monotonic() - started
        for _, line in processes():
            alive.setdefault(program_of(line), [now, now])[1] = now
        time.sleep(0.01)


# What happens to the interface of a row's node: it goes down; it delays whatever is sent, and drops what doesn't fit into a
# short queue; it loses every fiftieth packet and lets others overtake every fifth, which waits in a slow class of its own
# (Debian's iptables, since few kernels have netem).
IPTABLES_RULE = '{rule} -t mangle -A POSTROUTING -o {link} -m statistic --mode random --probability '
LINKS = {'down': ('ip link set {link} down',), 'full': ('tc qdisc replace dev {link} root tbf rate 20mbit burst 2kb limit 20kb',),
         'lossy': ('tc qdisc replace dev {link} root handle 1: htb default 10',
                   'tc class add dev {link} parent 1: classid 1:10 htb rate 1gbit',
                   'tc class add dev {link} parent 1: classid 1:20 htb rate 5mbit',
                   IPTABLES_RULE + '0.2 -j CLASSIFY --set-class 1:20', IPTABLES_RULE + '0.02 -j DROP')}


def ranks_of_nodes():
    """(process, its network namespace) of each rank that has a network namespace of its own node."""
    found, own = [], os.readlink('/proc/self/ns/net')
    for pid in (pid for pid, line in processes() if 'train_slice' in line):
        try:
            namespace = os.readlink(f'/proc/{pid}/ns/net')
        except OSError:
            continue
        if namespace != own:
            found.append((pid, namespace))
    return found


def disturb_link(how):
    """1 if one of the row's nodes had an interface to which it was done."""
    rule = next((name for name in ('iptables-legacy', 'iptables') if shutil.which(name)), 'iptables')
    for pid, _ in ranks_of_nodes():
        for entry in text_of(f'/proc/{pid}/net/dev').splitlines()[2:]:
            if (interface := entry.split(':')[0].strip()) != 'lo':
                enter = ['nsenter', '-t', str(pid), '-n']
                return int(all(subprocess.run(enter + command.format(link=interface, rule=rule).split(),
                                              stderr=subprocess.DEVNULL, check=False).returncode == 0 for command in LINKS[how]))
    return 0
