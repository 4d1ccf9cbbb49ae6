/**
 * The only programs we hand to a shell on the box, in POSIX sh, fixed as they stand here: everything that varies comes in
 * as a positional argument and is only ever used between double quotes.
 */

/**
 * Holds a folder for as long as its standard input stays open, and kills what was started in it. Because it sees the end
 * of its input whichever way we go (closed, cut, killed), the box is clean even after a crash of ours. Somebody between us
 * could keep the connection open without us (attack 470), so it ends after a silence of ours too, and hangs up at any end.
 * Arguments: marker, name of the folder, "keep" or "remove", seconds of silence. Prints facts between two marker lines.
 */
export const HOLD_WORKSPACE = `
umask 077
marker=$1 name=$2 keep=$3 silence=$4
work= watcher=
for parent in "$HOME" "\${TMPDIR:-/tmp}"; do
  [ -n "$parent" ] || continue
  if [ "$keep" = keep ]; then
    base=$parent/.cache/touchstone
    [ "$parent" = "$HOME" ] || base=$parent/touchstone-cache-$(id -u)
    mkdir -p "$base" 2>/dev/null || continue
    # Where everybody may write, somebody else may have taken the name: what runs from there would be his to change.
    [ "$parent" = "$HOME" ] || { [ -O "$base" ] && [ ! -L "$base" ]; } || continue
  else
    base=$parent
  fi
  mkdir "$base/$name" 2>/dev/null || continue
  work=$base/$name
  break
done
printf '\\n%s\\n' "$marker"
if [ -z "$work" ]; then
  printf 'work none\\n%s end\\n' "$marker"
  exit 1
fi
# Our own group is that of the SSH server where this does not give each command one: no prover is alone in it (attack 483).
own=
read -r line < "/proc/$$/stat" && set -- \${line##*) } && own=$3
printf '%s\\n' "$own" > "$work/holder"
groups() {
  for file in "$work"/group-*; do
    [ -f "$file" ] || continue
    read -r group < "$file" || continue
    case $group in
      '' | *[!0-9]* | 0 | 1 | "$own") ;;
      *) kill "-$1" "-$group" 2>/dev/null ;;
    esac
    [ "$1" = KILL ] && rm -f "$file"
  done
}
# A shell cannot read for a while only: another process sleeps, and is woken by every line that came. One that was just born
# would lose any other signal in the traps of its parent, and sleep on.
watch() {
  exec >/dev/null 2>&1
  trap 'kill -KILL "$!"' USR1
  trap 'kill -KILL "$!"; exit' TERM
  code=255
  while [ "$code" -gt 128 ]; do
    sleep "$silence" &
    wait "$!"
    code=$?
  done
  [ "$code" = 0 ] && kill -USR2 "$$"
}
# The first process above that is not of this command is the connection's own, or the machine's first where that has ended.
hang_up() {
  at=$$
  while grep -q "$marker" "/proc/$at/cmdline"; do
    read -r line < "/proc/$at/stat" || return
    set -- \${line##*) }
    at=$2
  done 2>/dev/null
  [ "$at" != 1 ] || return
  read -r program < "/proc/$at/comm" || return
  case $program in sshd*) kill "$at" ;; esac
}
clean() {
  trap '' HUP INT TERM PIPE USR2
  trap - EXIT
  kill "$watcher" 2>/dev/null
  groups TERM
  for file in "$work"/group-*; do [ -f "$file" ] && sleep 1; break; done
  groups KILL
  cd /
  rm -rf "$work"
  hang_up
  exit 0
}
# Before the traps: one that was just born would lose the signal that ends it in those of its parent.
watch &
watcher=$!
trap clean EXIT
trap clean HUP INT TERM PIPE USR2
# Left by somebody: one that is held is touched at every word.
find "$base" -maxdepth 1 -type d -name '.touchstone-run-*' -mmin +1440 -exec rm -rf {} + 2>/dev/null
printf 'base %s\\nwork %s\\nmachine %s\\nnode %s\\n' "$base" "$work" "$(uname -m)" "$(node --version 2>/dev/null | head -n 1)"
df -Pk "$work" 2>/dev/null | { read -r head; read -r disk size used free rest; printf 'freeKiB %s\\n' "$free"; }
printf '%s end\\n' "$marker"
while read -r order; do
  kill -USR1 "$watcher" 2>/dev/null
  touch "$work" 2>/dev/null
  case $order in
    term) groups TERM ;;
    kill) groups KILL ;;
  esac
done
`

/** Arguments: folder, files. Prints lines of hash and path, or exits 127 where there is no sha256sum. */
export const HASH_FILES = `
command -v sha256sum >/dev/null 2>&1 || exit 127
cd "$1" 2>/dev/null || exit 66
shift
printf '\\n'
sha256sum -b -- "$@" 2>/dev/null
exit 0
`

/** Arguments: file, mode. Its content comes on standard input. */
export const RECEIVE_FILE = `
umask 077
mkdir -p "\${1%/*}" && cat > "$1" && chmod "$2" "$1"
`

/** Arguments: file, mode. Unpacks what lies beside it with the ending gz; fails where the box cannot. */
export const UNPACK_FILE = `
umask 077
gzip -dc < "$1.gz" > "$1" && chmod "$2" "$1" && rm -f "$1.gz"
`

/**
 * Starts the prover and leaves its process group where the holder of the workspace finds it.
 * Arguments: marker, workspace, number, release folder, "keep" or "remove", command. The marker tells our output from what
 * a login shell prints. Where nothing is to be left, the prover keeps its state in the workspace, which goes with us.
 * What a prover leaves in its group when it ends by itself is killed here: the holder would not find the group any more.
 * This shell and those above it stay, to tell the exit code. A group that the holder is in too is that of the SSH server: then
 * the prover gets one of its own, or, on a box without setsid, is found by nobody, and ends with its input (attack 483).
 */
export const START_PROVER = `
marker=$1 file=$2/group-$3 alone=
read -r holder < "$2/holder"
cd "$4" || exit 66
if [ "$5" = remove ]; then TOUCHSTONE_HOME=$2/state; export TOUCHSTONE_HOME; fi
shift 5
read -r pid name state parent group rest < "/proc/$$/stat" || exit 67
case $group in '' | 0 | 1 | "$holder") group= alone=$(command -v setsid) ;; esac
if [ -n "$alone" ]; then
  setsid sh -c 'printf "%s\\n" "$$" > "$1" || exit 68; printf "\\n%s\\n" "$2"; shift 2; exec "$@"' sh "$file" "$marker" "$@"
  code=$?
  read -r group < "$file"
else
  [ -z "$group" ] || printf '%s\\n' "$group" > "$file" || exit 68
  printf '\\n%s\\n' "$marker"
  "$@"
  code=$?
fi
keep=" " at=$$
while read -r line < "/proc/$at/stat"; do
  keep="$keep$at "
  set -- \${line##*) }
  at=$2
done 2>/dev/null
round=0 alive=1
while [ "$alive" = 1 ] && [ "$round" -lt 20 ]; do
  round=$((round + 1)) alive=0
  for stat in /proc/[0-9]*/stat; do
    read -r line < "$stat" || continue
    set -- \${line##*) }
    [ "$3" = "$group" ] && [ "$1" != Z ] || continue
    pid=\${stat#/proc/} pid=\${pid%/stat}
    case $keep in *" $pid "*) continue ;; esac
    kill -KILL "$pid" && alive=1
  done 2>/dev/null
done
rm -f "$file"
exit "$code"
`
