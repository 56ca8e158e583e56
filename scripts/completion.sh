# Completes commands and options of run_matrix in bash and zsh, as the program itself describes them in --help.
# usage: source scripts/completion.sh
# shellcheck shell=bash
if [[ -n ${ZSH_VERSION-} ]]; then
  autoload -U +X compinit bashcompinit && compinit && bashcompinit
fi

_run_matrix() {
  local program word command='' commands typed=${COMP_WORDS[COMP_CWORD]}
  program=$(command -v -- "${COMP_WORDS[0]/#\~/$HOME}") || return
  program=$(dirname "$(readlink -f "$program")")
  [[ ! -x $program/build/release/run_matrix ]] || program+=/build/release  # not the script, which may install something
  commands=$("$program/run_matrix" --help | sed -n '/^Subcommands:/,$s/^  \([a-z][a-z-]*\) .*/\1/p')
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ -n $command || $'\n'$commands$'\n' != *$'\n'"$word"$'\n'* ]] || command=$word
  done
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$({
    # Options of a run may follow a command, too.
    [[ -n $command ]] && "$program/run_matrix" "$command" --help || echo "$commands"
    "$program/run_matrix" --help
  } | sed -n 's/^  \(-[a-zA-Z],\)\{0,1\}\(--[a-z-]*\).*/\2/p; s/^[a-z][a-z-]*$/&/p')" -- "$typed")
}
complete -o default -F _run_matrix run_matrix
