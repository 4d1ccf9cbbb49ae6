/** Programs for /bin/sh on the provider's own box, fixed as they stand here; what varies comes in as an argument. */

import { FIRST_UID, PAST_UIDS } from './nextUid.ts'

/**
 * Forced command of a lease in a shared account: runs what was asked for only while the lease's folder exists, and leaves
 * its process group there for the one who closes it. Arguments: folder of the lease.
 */
export const LEASE_SHELL = `
[ -d "$1" ] || { echo "touchstone: this lease is over" >&2; exit 1; }
read -r pid name state parent group rest < "/proc/$$/stat" || exit 67
printf '%s\\n' "$group" > "$1/group-$$" || exit 68
# The lease may have been closed between the two lines above.
[ -d "$1" ] || exit 1
case \${SSH_ORIGINAL_COMMAND:-} in
  '') echo "touchstone: say which command to run" >&2; code=2 ;;
  internal-sftp | */sftp-server)
    code=127
    for server in /usr/lib/openssh/sftp-server /usr/libexec/openssh/sftp-server /usr/libexec/sftp-server \\
      /usr/lib/ssh/sftp-server; do
      if [ -x "$server" ]; then "$server"; code=$?; break; fi
    done ;;
  *) sh -c "$SSH_ORIGINAL_COMMAND"; code=$? ;;
esac
rm -f "$1/group-$$"
exit "$code"
`

/**
 * Takes a key out of a shared authorized_keys and ends the sessions it opened. Arguments: authorized_keys, tag of the
 * lease, folder of the lease. The folder is renamed first: from then on no session can sign up in it, and whoever is just
 * opening this lease sees that it is over. It is removed last: while anything is left of it, the watchdog stays.
 */
export const CLOSE_SHARED = `
mv "$3" "$3.closed" 2>/dev/null
if [ -f "$1" ] && grep -q " $2\\$" "$1"; then
  sed -i "/ $2\\$/d" "$1" || exit 1
fi
for file in "$3.closed"/group-*; do
  [ -f "$file" ] || continue
  read -r group < "$file" || continue
  case $group in '' | *[!0-9]* | 0 | 1) continue ;; esac
  kill -KILL "-$group" 2>/dev/null
done
rm -rf "$3.closed"
exit 0
`

/**
 * Ends every process of a user id at once. A loop over process ids never ends a process that forks and exits in turn, but
 * one kill(-1) reaches all of them: a fork that is under way fails by it. It is sent by a process that only root can end:
 * its saved user id stays 0, its real one is nobody's, and with an effective one other than root it has no power over
 * anybody else. Without perl the killer is of that account altogether, and may have to come back.
 * Whoever could not become that user must not send it: as root it would reach the whole machine.
 */
const KILL_AS_USER = `
perl -e '($<, $>) = ($ARGV[1], $ARGV[0]); $< == $ARGV[1] && $> == $ARGV[0] or exit 1; kill "KILL", -1; exit 0' \\
      "$uid" "$nobody" 2>/dev/null ||
      setpriv --reuid "$uid" --clear-groups sh -c 'kill -KILL -1; exit 0' 2>/dev/null`.trim()

/** For find: files whose owner has an id of leases. */
const OF_LEASES = `-uid +${FIRST_UID - 1} -uid -${PAST_UIDS}`

/**
 * User ids that living processes have. Many looks, each from the newest process back: one that forks and exits in turn is missed
 * by most.
 */
const IDS_AT_WORK = `
perl -e 'for (1 .. 20) {
    opendir my $all, "/proc" or exit 1;
    for (reverse grep { /^[0-9]/ } readdir $all) {
      open my $file, "<", "/proc/$_/status" or next;
      my $status = join "", <$file>;
      @seen{split " ", $1} = () if $status !~ /^State:.[ZX]/m && $status =~ /^Uid:(.*)/m;
    }
  }
  print map { "$_\\n" } keys %seen' 2>/dev/null ||
    cat /proc/[0-9]*/status 2>/dev/null | awk '
      /^State:/ { dead = $2 == "Z" || $2 == "X" }
      /^Uid:/ && !dead { for (i = 2; i <= 5; i++) print $i }' | sort -u`.trim()

/**
 * Removes an account made for one lease with all its processes and whatever it left. Arguments: account, folder of the
 * lease, an id that nobody has, where control groups are. First nothing new can start (logins, cron, at, lingering), then
 * everything ends, then the account goes, and once more whatever was on its way in. Its traces go last, and what takes
 * longer than two seconds goes on when the lease is over. The user id is kept in the folder: it must be known for as long
 * as anything may be left, with or without an account.
 */
export const CLOSE_ACCOUNT = `
mv "$2" "$2.closed" 2>/dev/null
user=$1 nobody=$3 groups=$4
uid=$(id -u "$user" 2>/dev/null)
[ -n "$uid" ] || uid=$(cat "$2.closed/uid" 2>/dev/null)
case $uid in '' ) rm -rf "$2.closed"; exit 0 ;; *[!0-9]*) exit 1 ;; esac
[ "$uid" -ge 100 ] || exit 1

left() {
  cat /proc/[0-9]*/status 2>/dev/null | awk -v uid="$uid" '
    /^State:/ { dead = $2 == "Z" || $2 == "X" }
    /^Uid:/ && !dead { for (i = 2; i <= 5; i++) if ($i == uid) found = 1 }
    END { exit !found }'
}
# Whether an id is that of a lease that is over.
ended() {
  [ "$1" -ge ${FIRST_UID} ] && [ "$1" -lt ${PAST_UIDS} ] || return 1
  getent passwd "$1" >/dev/null
  [ "$?" -eq 2 ]
}
ids_at_work() {
  ${IDS_AT_WORK}
}
# A service of root that does something for the user, and that the user makes wait: sshd at a pipe in its home, say.
end_servants() {
  cat /proc/[0-9]*/status 2>/dev/null | awk -v uid="$uid" '
    /^Pid:/ { pid = $2 }
    /^Uid:/ && $2 != uid && ($3 == uid || $4 == uid || $5 == uid) { print pid }' |
    while read -r pid; do kill -KILL "$pid" 2>/dev/null; done
}
# Processes that live for less than a look at them are never seen: only a kill that was sent says that none is left.
end_all() {
  round=0
  while [ "$round" -lt 100 ]; do
    round=$((round + 1))
    slice=$groups/user.slice/user-$uid.slice/cgroup.kill
    [ ! -w "$slice" ] || echo 1 > "$slice"
    ${KILL_AS_USER} || continue
    left || return 0
    [ "$round" -lt 3 ] || end_servants
  done
  return 1
}
# A setuid copy that an earlier tenant left somewhere lets this one act as him, and the other way round: over and over.
end_everyone() {
  for turn in 1 2 3 4 5 6 7 8 9 10; do
    end_all || return 1
    found=
    for earlier in $(ids_at_work); do
      ! ended "$earlier" || { found=1; (uid=$earlier; end_all) || return 1; }
    done
    [ -n "$found" ] || return 0
  done
  return 1
}
# Both take tests of find first: what does not pass them stays.
sweep() {
  tests=$1
  shift
  for place in "$@"; do
    [ -d "$place" ] || continue
    find "$place" -xdev -mindepth 1 $tests \\( -uid "$uid" -o ${OF_LEASES} -nouser \\) -delete 2>/dev/null
  done
}
empty() {
  case $home in */"$user") find "$home" -xdev $1 -delete 2>/dev/null ;; esac
}
forget_shared() {
  for kind in shm:m msg:q sem:s; do
    for one in $(awk '
      NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "uid") own = i; if ($i == "cuid") made = i } next }
      { ids[$own]; ids[$made] } END { for (id in ids) print id }' "/proc/sysvipc/\${kind%:*}" 2>/dev/null); do
      [ "$one" = "$uid" ] || ended "$one" || continue
      awk -v uid="$one" -v option="-\${kind#*:}" '
        NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "uid") own = i; if ($i == "cuid") made = i } next }
        $own == uid || $made == uid { print option, $2 }' "/proc/sysvipc/\${kind%:*}" 2>/dev/null |
        xargs -r -n 200 ipcrm 2>/dev/null
    done
  done
}
# What is left of it belongs to an id that nobody gets again, so whoever comes next need not wait for all of it (attack 490).
# Whoever comes next needs room: first memory and what takes much of a disk, and then, one after the other, what takes long
# (attacks 524 and 526).
forget() {
  trap '' HUP INT TERM
  large='-type f -size +64k'
  places='/tmp /var/tmp /dev/shm /dev/mqueue /run/lock /var/lock /var/crash'
  forget_shared
  sweep '' /dev/shm
  empty "$large"
  sweep "$large" $places
  [ -d "\${2%/*}" ] && exec 9< "\${2%/*}" && flock 9 2>/dev/null
  empty ''
  sweep '' $places
  rm -f "/var/mail/$user" "/var/spool/mail/$user"
  rm -rf "$2.closed"
}

usermod --lock --expiredate 1 --shell /bin/false "$user" 2>/dev/null
home=$(getent passwd "$user" | cut -d: -f6)
# Where the account is gone already, and something was in the way of the rest.
[ -z "$home" ] || printf '%s\\n' "$home" > "$2.closed/home"
home=$(cat "$2.closed/home" 2>/dev/null)
# No key of it is read any more. What lies inside is left to userdel: names in there are the tenant's, and may lead anywhere.
case $home in */"$user") chown -h 0:0 "$home" && chmod 700 "$home" ;; esac
rm -f "/var/spool/cron/crontabs/$user" "/var/spool/cron/$user" "/var/spool/cron/tabs/$user" \
  "/var/lib/systemd/linger/$user"
sweep '' /var/spool/cron /var/spool/at /var/spool/atjobs
end_everyone || exit 1
userdel --force "$user" >/dev/null 2>&1
groupdel "$user" >/dev/null 2>&1
id -u "$user" >/dev/null 2>&1 && exit 1
end_everyone || exit 1
# With no copy of our output left in it, which whoever called us reads to its end.
(exec </dev/null >/dev/null 2>&1; forget "$1" "$2") &
waited=0
while [ -d "$2.closed" ] && [ "$waited" -lt 10 ]; do
  sleep 0.2
  waited=$((waited + 1))
done
exit 0
`

/** Arguments: engine, container, authorized_keys, tag, folder of the lease. In the same order. */
export const CLOSE_CONTAINER = `
mv "$5" "$5.closed" 2>/dev/null
if [ -f "$3" ] && grep -q " $4\\$" "$3"; then
  sed -i "/ $4\\$/d" "$3" || exit 1
fi
"$1" rm --force "$2" >/dev/null 2>&1
# An engine that does not answer has removed nothing.
left=$("$1" ps --all --quiet --filter "name=$2") || exit 1
[ -z "$left" ] || exit 1
rm -rf "$5.closed"
exit 0
`

/**
 * Outlives the provider: ends a lease on time whoever else has died. Goes away by itself when the lease's folder does, closed or not.
 * Arguments: folder of the lease, seconds it may last, end in seconds since 1970, then the command that closes it. Counts
 * seconds besides reading the clock, so that setting the clock back does not make a lease longer.
 */
export const WATCHDOG = `
trap '' HUP INT TERM
folder=$1 left=$2 end=$3
shift 3
while [ -d "$folder" ] || [ -d "$folder.closed" ]; do
  if [ "$left" -le 0 ] || [ "$(date +%s)" -ge "$end" ]; then
    tries=0
    while [ "$tries" -lt 600 ]; do
      # Once more a little later, for a provider that was killed while it was just opening the lease.
      "$@" && sleep 3 && "$@" && exit 0
      tries=$((tries + 1))
      sleep 1
    done
    exit 1
  fi
  sleep 1
  left=$((left - 1))
done
`

/**
 * First process of a lease's container. It ends with the lease whoever else has died, and takes in what others leave behind
 * when they end, so that no zombie stays. Arguments: seconds.
 */
export const CONTAINER_INIT = 'sleep "$1" & wait "$!"'

/**
 * Forced command of a lease in a container: whatever was asked for runs inside, never here. Arguments: engine, container.
 * SFTP is for files of this machine, so it is refused; the release goes in through a command instead.
 */
export const CONTAINER_SHELL = `
case \${SSH_ORIGINAL_COMMAND:-} in
  '' | internal-sftp | */sftp-server) exit 1 ;;
esac
exec "$1" exec --interactive "$2" sh -c "$SSH_ORIGINAL_COMMAND"
`
