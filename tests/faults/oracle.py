"""What is right after a trial, from what it left and an undisturbed call's: documented exit codes, reasons that name what
failed, nothing left behind, no finished record lost."""
import errno
import itertools
import os
import signal

import commands

CODES = {0, 1, 2, 3, 4, 130}  # docs/running.md, "Exit codes"
ABORTED = ('terminate called', 'Segmentation fault', 'Assertion ', 'stack smashing', 'double free', 'corrupted ')


def verdict(result, reference, extra):
    """What is wrong with the result of a broken call, one sentence each; empty if it is as documented."""
    command, wrong = commands.COMMANDS[extra['command']], []
    resumes = command.run and command.again[0] == '--resume'
    code, said = result['code'], result['said']
    killed = extra.get('signal') == 'SIGKILL' and extra.get('target') in ('command', 'all', command.program) or \
        extra.get('plan', '').endswith(' kill') and extra['plan'].split()[0] == command.program
    if isinstance(code, str):
        wrong.append(f'{code}; then waited: {result["waiting"]}')
    elif not killed and code not in CODES and not ended_by_signal(code, extra):
        wrong.append(f'exit code {code}')
    wrong += [f'it printed "{text}"' for text in ABORTED if text in said and 'row' not in said]
    wrong += result.get('wrong', []) + [f'{name} of the run that it reads was changed' for name in result.get('changed', [])]
    finished = [record for record in result.get('records', []) if record['status'] == 'OK']
    if code == 0 and resumes and len(finished) != len(reference['records']):
        wrong.append(f'exit code 0, but {len(finished)} rows of {len(reference["records"])} are OK')
    if code not in command.codes and not killed and not ended_by_signal(code, extra) and not names_the_fault(result, extra):
        wrong.append('neither its output nor a reason names what failed')
    # What could not be removed, or what a killed program left in memory, stays until a further run.
    alone = command.reads or command.words[0] == 'list'  # then every undisturbed call prints the same
    if alone and not isinstance(code, str) and code == reference['code'] and \
            not names_the_fault(result, extra) and said != reference['said']:
        wrong.append('it says something else than undisturbed, and not why: ' + first_difference(said, reference['said']))
    kept = killed or extra.get('plan', '').split(' ')[1:2] == ['unlink'] or \
        'training-matrix' in str(result['hit']) or 'RLIMIT_NOFILE' in extra.get('limits', {})
    scratch = [entry for entry in result['left'] if kept and entry.startswith(('file ', 'folder ', 'mount '))]
    for when, left in (('left', set(result['left']) - set(scratch)), ('left after the next run', result['again_left'])):
        wrong += [f'{when}: {entry}' for entry in sorted(set(left) - set(reference['left']))[:6]]
    if result.get('fresh_code', 0) not in command.codes:
        wrong.append(f'a further run ends with {result["fresh_code"]}')
    nothing = (3,) if command.run and command.again[0] == 'report' and not result['records'] else ()
    if result['again_code'] not in command.codes + nothing:
        wrong.append(f'the next run ends with {result["again_code"]}: {result["again_said"][-1500:]}')
    wrong += [f'after the next run, {what}' for what in result.get('again_wrong', [])]
    if resumes:
        lost = [record for record in finished if record not in result['again_records']]
        wrong += [f'the next run lost or changed the finished record of row {record["row"]}' for record in lost]
        rows = sorted(record['row'] for record in result['again_records'] if record['status'] == 'OK')
        if rows != sorted(record['row'] for record in reference['records']):
            wrong.append(f'after the next run the rows {rows} are OK')
        elif result['again_table'] != reference['again_table']:
            wrong += [f'after the next run the table has {now} instead of {then}' for now, then in
                      itertools.zip_longest(result['again_table'], reference['again_table']) if now != then]
    more, fewer = set(result['files']) - set(reference['files']), set(reference['files']) - set(result['files'])
    if not resumes:  # a command that begins anew leaves the broken run's files beside its own
        more, fewer = {name for name in more if name.endswith(('.partial', '.in-use'))}, set()
        if killed:  # what it was writing stays in its own run's folder, which --resume completes
            more = {name for name in more if not name.startswith('results/runs/')}
    # A trial's images are a copy of the undisturbed run's, so that they are listed beside those.
    more = {name for name in more if '/index-' not in name}
    wrong += [f'after the next run, {name} is there' for name in sorted(more)[:3]]
    wrong += [f'after the next run, {name} is missing' for name in sorted(fewer)[:3]]
    return wrong


def ended_by_signal(code, extra):
    """As any program that is not running rows just then; one that is ends with 130 (docs/running.md)."""
    if 'memory' in extra.get('limits', {}) or extra.get('limits', {}).get('RLIMIT_FSIZE'):
        return code in (-signal.SIGKILL, -signal.SIGXFSZ)  # the system's choice may be run_matrix itself
    if extra.get('target') == 'link':
        return False
    sent = extra.get('signal') or ('SIGHUP' if 'terminal_s' in extra else None)
    return sent is not None and code in (130, -getattr(signal, sent))


def first_difference(said, before):
    pairs = zip(said.splitlines() + [''], before.splitlines() + [''])
    return next((f'"{now}" instead of "{then}"' for now, then in pairs if now != then), 'its length')


def names_the_fault(result, extra):
    """Whether the text that a user sees has the system's word for the error, or the file or program that it met."""
    if result['mute']:
        return True
    command = commands.COMMANDS[extra['command']]
    seen = result['said'] + ' '.join(record.get('reason', '') for record in result.get('records', []))
    words = []
    if 'plan' in extra:
        program, kind, _, effect = extra['plan'].split()
        if kind == 'clock':
            return False  # it is no reason for anything to end
        words = ['signal 9', program] if effect == 'kill' else []
        if effect.isdigit():
            words += [os.strerror(int(effect)), errno.errorcode[int(effect)]]
        what = result['hit'].split(' ', 2)[-1].strip()
        if '/' in what:
            words.append(os.path.basename(what))
        if kind == 'tell':  # a pipe between two of the suite's processes: whoever reads it sees that nothing came
            words += ['the process that starts them ended']
        if kind in ('malloc', 'mmap'):
            words += ['memory', 'bad_alloc', 'an allocation failed']
            if program == 'train_slice':  # what libraries make of it, oneDNN's last
                words += ['signal 11', 'signal 6', 'could not create a primitive']
        if kind == 'connect':
            words.append('Failed to connect')  # libcurl's words
        if program == 'train_slice' and what.startswith(('/sys/', '/proc/')):  # LibTorch counts cores, and can't do without
            words += ['signal 11', 'signal 6']
        if program == 'train_slice' and command.deep:  # MPI and Gloo tell no errno: some end with their own words, some wait
            words += ['HUNG', 'MPI_', 'Connection was likely closed']
    elif extra.get('target') == 'link':
        words = ['HUNG', 'remote daemon', 'link']
    elif 'signal' in extra:
        number = int(getattr(signal, extra['signal']))
        words = [f'signal {number}', f'exit code {128 + number}', 'interrupted', 'HUNG', extra['target']]
        words += {'orted': ['remote daemon', 'one or more daemons'], 'nginx': ['object store']}.get(extra['target'], [])
    elif 'limits' in extra:
        words = ['Too many open files', 'File too large', 'ulimit', 'OUT_OF_MEMORY', 'memory', 'bad_alloc', 'signal 9']
    else:
        words = ['No space left on device', 'free some space', 'are free', 'memory']
    return any(word and word in seen for word in words)
