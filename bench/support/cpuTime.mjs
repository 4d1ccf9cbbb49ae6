import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Nanoseconds that each process of ours has had a core for, by what it is: this one, sshd, the provers, other helpers. */
export function cpuTime() {
  const spent = { validator: threadsOf(process.pid), sshd: 0, proverHere: 0, proverThere: 0, helpers: 0 }
  const family = descendants()
  for (const { pid, role } of family) spent[role] += threadsOf(pid)
  return { spent, machine: machineBusy() }
}

/** Seconds of processor time that the prover below us has had, each time it is asked. */
export function proverClock() {
  const { pid } = descendants().find(({ role }) => role === 'proverHere')
  return () => threadsOf(pid) / 1e9
}

/** Whether both provers run under the same conditions: what differs would make one of them slower. */
export function sameConditions() {
  const family = descendants()
  const [here, there] = ['proverHere', 'proverThere'].map((wanted) => family.find(({ role }) => role === wanted).pid)
  const same = (read) => read(here) === read(there)
  const status = (name) => (pid) =>
    new RegExp(`^${name}:.*$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[0]
  return {
    program: same((pid) => readlinkSync(`/proc/${pid}/exe`)),
    nice: same((pid) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[16]),
    cores: same(status('Cpus_allowed_list')),
    controlGroup: same((pid) => readFileSync(`/proc/${pid}/cgroup`, 'utf8')),
    limits: same((pid) => readFileSync(`/proc/${pid}/limits`, 'utf8')),
  }
}

/** Children of ours that are node are the prover here; below sshd everything belongs to the session over SSH. */
function descendants() {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const known = new Map(all.flatMap((pid) => entryOf(pid)))
  const roleOf = (pid, depth = 0) => {
    const found = known.get(pid)
    if (!found || depth > 20) return null
    if (found.name.startsWith('sshd'))
      return found.parent === process.pid || roleOf(found.parent, depth + 1) ? 'sshd' : null
    const isNode = found.name === 'node' || found.name === 'MainThread'
    if (found.parent === process.pid) return isNode ? 'proverHere' : 'helpers'
    const parent = roleOf(found.parent, depth + 1)
    if (parent !== 'sshd' && parent !== 'helpers') return parent
    return isNode ? 'proverThere' : 'helpers'
  }
  return [...known.keys()].flatMap((pid) => {
    const role = roleOf(pid)
    return role === null ? [] : [{ pid, role }]
  })
}

function entryOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const end = text.lastIndexOf(')')
    const parent = Number(text.slice(end + 2).split(' ')[1])
    return [[Number(pid), { name: text.slice(text.indexOf('(') + 1, end), parent }]]
  } catch {
    return []
  }
}

function threadsOf(pid) {
  let sum = 0
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`))
      sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
  } catch {
    // It ended while we looked.
  }
  return sum
}

/** Nanoseconds that all cores together were busy, with a resolution of a clock tick. */
function machineBusy() {
  const [user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return (user + nice + system + irq + softirq) * 1e7
}
