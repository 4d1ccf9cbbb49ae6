import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

function ask(...query) {
  const { status, stdout } = spawnSync('nvidia-smi', [...query, '--format=csv,noheader,nounits'], {
    encoding: 'utf8',
    timeout: 10_000,
  })
  return status === 0 ? stdout.trim().split('\n') : null
}

/** Name, driver, memory and power limit of the first card, as nvidia-smi says them; null where there is none. */
export function firstCard() {
  const [line] = ask('-i', '0', '--query-gpu=name,driver_version,memory.total,power.limit,temperature.gpu') ?? []
  if (line === undefined) return null
  const [name, driver, memoryMiB, powerLimitW, temperatureC] = line.split(', ')
  return {
    name,
    driver,
    memoryMiB: Number(memoryMiB),
    powerLimitW: Number(powerLimitW),
    temperatureC: Number(temperatureC),
  }
}

/** MiB in use on the first card by everybody together; null where there is no card. */
export function usedMiB() {
  const [line] = ask('-i', '0', '--query-gpu=memory.used') ?? []
  return line === undefined ? null : Number(line)
}

/** Everything that was started by a login whose home this is. */
export function processesOf(home) {
  const found = []
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${home}`)) continue
      found.push({ pid: Number(pid), argv: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0') })
    } catch {
      // Gone meanwhile, or another user's.
    }
  return found
}

/** Every file and folder below, also while some of them are being removed. */
export function treeOf(folder) {
  for (;;)
    try {
      return readdirSync(folder, { recursive: true }).map(String).sort()
    } catch (error) {
      if (error.code !== 'ENOENT') throw error
    }
}
