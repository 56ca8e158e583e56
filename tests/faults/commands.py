"""The commands that tests/faults/run breaks, and what an undisturbed run of each leaves."""
import dataclasses
import pathlib

FAKE = ('RUN_MATRIX_WORKER', 'tests/fake_slice')  # a rank that trains nothing: a run of the harness takes a second
JOB = str(pathlib.Path(__file__).parents[1] / 'own_job/fake_job.py')  # a training of a user's own that takes no time
SMALL = ['--scale', 'smoke', '--set', 'storage=synthetic', '--repeat-within', '0s']


@dataclasses.dataclass
class Command:
    """`words` follow the program; {T} is the trial's folder, {RUN} a copy of an undisturbed run, {OTHER} another one."""
    words: list
    again: list = None      # what completes a call that left a folder with records; else the same words
    fake: bool = True       # with the fake rank
    run: str = ''           # the folder with records that it writes, below the trial's folder
    reads: str = ''         # the command whose run it reads; that must stay as it is but for what `report` makes of it
    program: str = 'run_matrix'
    codes: tuple = (0,)     # exit codes of an undisturbed call
    deep: bool = False      # ranks with LibTorch, packed copies, namespaces: seconds a trial
    fresh: bool = False     # it makes its images where the fault isn't run_matrix's own; others find them made


def trained(only, *settings):
    """Rows that really train."""
    words = ['--device', 'cpu', '--scale', 'smoke', '--only', only, '--repeat-within', '0s', '--hang-after', '10']
    for setting in settings:
        words += ['--set', setting]
    return Command([*words, '--out', '{T}/run'], ['--resume', '{T}/run'], run='run', fake=False, deep=True)


COMMANDS = {
    'run': Command(['--device', 'cpu', '--only', '0,7', *SMALL, '--out', '{T}/run'], ['--resume', '{T}/run'], run='run',
                   fresh=True),
    'outputs': Command(['--device', 'cpu', '--only', '0', *SMALL, '--out', '{T}/run', '--junit', '{T}/junit.xml',
                        '--prometheus', '{T}/rows.prom', '--otlp', '{T}/rows.json'],
                       ['--resume', '{T}/run'], run='run'),
    'report': Command(['report', '{RUN}'], reads='run'),
    'compare': Command(['compare', '{RUN}', '{OTHER}'], reads='run', codes=(0, 4)),
    'validate': Command(['validate', '{RUN}', '--against', '{OTHER}'], reads='run', codes=(0, 2, 3, 4)),
    'nightly': Command(['nightly', '--device', 'cpu', '--only', '0', *SMALL[:4]], codes=(0, 1)),
    'ab': Command(['ab', '--set-a', 'batch=256', '--set-b', 'batch=512', '--device', 'cpu', '--only', '0', *SMALL[:4],
                   '--repeat', '2', '--out', '{T}/run'], ['report', '{T}/run/A'], run='run/A', codes=(0, 3, 4)),
    'explain': Command(['explain', '0', '--device', 'cpu', *SMALL[:4], '--within', '2s', '--out', '{T}/run'],
                       ['report', '{T}/run'], run='run', codes=(0, 3)),
    'feed': Command(['feed', '--device', 'v100-article', '--devices', '2', '--within', '2s', '--out', '{T}/run'],
                    ['report', '{T}/run'], run='run', codes=(0, 3, 4)),
    'record': Command(['record', '--steps', '20', '--keep-disturbed', '--out', '{T}/run', '--', 'python3', JOB],
                      ['report', '{T}/run'], run='run'),
    'list': Command(['list', '--json']),
    'make_dataset': Command(['standin', '--out', '{T}/images', '--images', '120'], program='make_dataset', fake=False),
    'train': trained('0', 'storage=synthetic'),
    'calibrate': Command(['calibrate', '{RUN}', '--out', '{T}/device.yaml', '--force'], reads='train', deep=True),
    'files': trained('disk,tmpfs'),
    'packed': trained('lmdb'),
    'ranks': trained('12', 'storage=synthetic'),
    'gloo': trained('12', 'storage=synthetic', 'backend=gloo'),
    'nodes': trained('17', 'storage=synthetic'),
    'store': trained('0', 'storage=remote'),
    'mounted': trained('0', 'storage=remote_mounted'),  # by rclone
}


def in_folder(words, trial):
    """The words with the places of a trial."""
    return [word.format(T=trial, RUN=trial / 'given', OTHER=trial / 'other') for word in words]
