#!/usr/bin/env bash
# tests/slurm_cluster.sh COMMAND...: runs COMMAND beside a real Slurm cluster that lives for that long: a controller and
# the nodes node0 and node1, all on this machine. The exit code is COMMAND's; 2 when the cluster could not be had.
#
# Everything lies in one temporary folder, with its own munge key and socket, so that services of the system neither
# help nor hinder. Nodes claim CPUS (default 4) processors each, whatever the machine has.
set -euo pipefail

fail() {  # WHAT NEXT_STEP
  printf 'slurm_cluster: %s\n        next: %s\n' "$1" "$2" >&2
  exit 2
}

(($#)) || fail "no command given" "tests/slurm_cluster.sh COMMAND..."
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

gone() {  # SECONDS: waits until no member is left
  for ((i = 0; i < $1 * 10; i++)); do
    [[ -n $(members) ]] || return 0
    sleep 0.1
  done
  return 1
}

stop() {
  trap '' EXIT INT TERM HUP
  local signal
  for signal in TERM KILL; do
    members | xargs --no-run-if-empty kill -s "$signal" 2>/dev/null || true
    if gone 5; then break; fi
  done
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

free_ports() {  # COUNT: that many ports of this machine on which nothing listens
  local count=$1 port
  while ((count)); do
    port=$((20000 + RANDOM % 12000))
    if ! (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      echo "$port"
      count=$((count - 1))
    fi
  done
}

host=$(hostname -s)
mapfile -t port < <(free_ports 3)
chmod 755 "$folder"  # munged wants its socket to be reachable by everybody
mkdir "$folder"/{munge,state,node0,node1}
head -c 128 /dev/urandom >"$folder/munge/key"
chmod 600 "$folder/munge/key"

cat >"$conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${port[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/controller.pid
SlurmctldLogFile=$folder/controller.log
SlurmdSpoolDir=$folder/%n
SlurmdPidFile=$folder/%n/pid
SlurmdLogFile=$folder/%n.log
TmpFS=$folder/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=$folder/prolog
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MpiDefault=none
NodeName=node0 NodeHostname=$host NodeAddr=127.0.0.1 Port=${port[1]} CPUs=${CPUS:-4}
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=${port[2]} CPUs=${CPUS:-4}
PartitionName=all Nodes=node[0-1] Default=YES MaxTime=INFINITE State=UP
END

# Both nodes share one host name, by which OpenMPI would name their shared memory: each node gets a folder of its own.
cat >"$folder/prolog" <<END
#!/bin/sh
echo "export TMPDIR=$folder/\$SLURMD_NODENAME"
echo "export OMPI_MCA_btl_vader_backing_directory=$folder/\$SLURMD_NODENAME"
END
chmod 755 "$folder/prolog"

daemon() {  # COMMAND...: in the background, and not longer than this script lives
  SLURM_CONF=$conf setpriv --pdeathsig TERM "$@" >>"$folder/daemons.log" 2>&1 </dev/null &
}
daemon munged --foreground --key-file "$folder/munge/key" --socket "$folder/munge/socket" \
  --pid-file "$folder/munge/pid" --seed-file "$folder/munge/seed" --log-file "$folder/munge/log"
daemon slurmctld -D -c
daemon slurmd -D -N node0
daemon slurmd -D -N node1

for ((i = 0; ; i++)); do
  [[ $(SLURM_CONF=$conf sinfo --noheader --format %D --states idle 2>/dev/null) != 2 ]] || break
  if ((i == 300)); then
    tail -n 8 "$folder"/*.log "$folder/munge/log" >&2
    fail "the nodes are not up after 30 s" "see the daemons' messages above"
  fi
  sleep 0.1
done

# In the background, so that a signal ends the wait; env undoes what the shell does to background commands.
env --default-signal=INT,QUIT SLURM_CONF="$conf" "$@" <&0 &
wait $!
