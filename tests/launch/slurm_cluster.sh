#!/usr/bin/env bash
# tests/launch/slurm_cluster.sh COMMAND...: runs COMMAND with a temporary real Slurm cluster: a controller and
# the nodes node0 and node1, all on this machine. The exit code is COMMAND's; 2 when there is no cluster.
#
# Everything is in one temporary folder, including munge's key and socket, so the system's services have no influence.
# A node claims CPUS (default 4) processors, whatever the machine has. CPUs are given node by node: to get two tasks on
# each ask for `salloc -N2 -n4 --ntasks-per-node=2`.
set -euo pipefail

fail() {  # WHAT NEXT_STEP
  printf 'slurm_cluster: %s\n        next: %s\n' "$1" "$2" >&2
  exit 2
}

(($#)) || fail "no command given" "tests/launch/slurm_cluster.sh COMMAND..."
[[ $(id -u) == 0 ]] || fail "the daemons need root" "repeat as root, or with sudo in front"
PATH+=:/usr/sbin:/sbin
missing=()
for program in slurmctld slurmd srun munged; do
  command -v "$program" >/dev/null || missing+=("$program")
done
((${#missing[@]} == 0)) || fail "missing: ${missing[*]}" "apt-get install slurm-wlm munge"

folder=$(mktemp -d "${TMPDIR:-/tmp}/slurm.XXXXXX")
conf=$folder/slurm.conf

# The daemons, their steps and tasks and COMMAND all carry this variable in their environment, and nothing else does.
members() { grep -lszxF "SLURM_CONF=$conf" /proc/[0-9]*/environ | cut -d/ -f3 || true; }

stop() {
  local signal i
  for signal in TERM KILL; do
    members | xargs --no-run-if-empty kill -s "$signal" 2>/dev/null || true
    for ((i = 0; i < 20; i++)); do
      [[ -n $(members) ]] || break 2
      sleep 0.1
    done
  done
  rm -rf "$folder"
}

# The guardian reads from a pipe that only this script holds open: the cluster stops even after a kill -9.
exec {alive}> >(trap '' INT TERM HUP; cat >/dev/null; stop)
guardian=$!
trap 'trap "" INT TERM HUP; exec {alive}>&-; wait "$guardian" || true' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

free_ports() {  # COUNT: ports of this machine on which nothing listens
  local count=$1 port
  while ((count)); do
    port=$((20000 + RANDOM % 12000))
    (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && continue
    echo "$port"
    count=$((count - 1))
  done
}

host=$(hostname -s)
mapfile -t port < <(free_ports 3)
chmod 755 "$folder"  # munged requires that all users can reach its socket
mkdir "$folder"/{munge,state,node0,node1}
(umask 077 && head -c 128 /dev/urandom >"$folder/munge/key")

cat >"$conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${port[0]}
SlurmUser=root
AuthInfo=socket=$folder/munge/socket
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/controller.pid
SlurmctldLogFile=$folder/controller.log
SlurmdSpoolDir=$folder/%n
SlurmdPidFile=$folder/%n/pid
SlurmdLogFile=$folder/%n.log
TmpFS=$folder/%n
TaskProlog=$folder/prolog
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName=node0 NodeHostname=$host NodeAddr=127.0.0.1 Port=${port[1]} CPUs=${CPUS:-4}
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=${port[2]} CPUs=${CPUS:-4}
PartitionName=all Nodes=node[0-1] Default=YES
END

# PMIx (TmpFS above) and OpenMPI name what they create by step and host: two nodes on one host need a folder each.
cat >"$folder/prolog" <<END
#!/bin/sh
echo "export TMPDIR=$folder/\$SLURMD_NODENAME"
echo "export OMPI_MCA_btl_vader_backing_directory=$folder/\$SLURMD_NODENAME"
END
chmod 755 "$folder/prolog"

daemon() { SLURM_CONF=$conf "$@" >>"$folder/daemons.log" 2>&1 </dev/null {alive}>&- & }
daemon munged --foreground --key-file "$folder/munge/key" --socket "$folder/munge/socket" \
  --pid-file "$folder/munge/pid" --seed-file "$folder/munge/seed"
daemon slurmctld -D
daemon slurmd -D -N node0
daemon slurmd -D -N node1

until [[ $(SLURM_CONF=$conf timeout 5 sinfo --noheader --format %D --states idle 2>/dev/null) == 2 ]]; do
  if ((SECONDS > 30)) || [[ $(jobs -pr | wc -l) != 4 ]]; then
    tail -n 8 "$folder"/*.log >&2
    fail "the cluster did not come up" "see the messages of its daemons above"
  fi
  sleep 0.1
done

# In the background, so that a signal ends the wait; env undoes what the shell does to background commands.
env --default-signal=INT,QUIT SLURM_CONF="$conf" "$@" <&0 {alive}>&- &
wait $!
