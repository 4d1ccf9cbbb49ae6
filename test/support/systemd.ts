import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/** Why no unit can be started here, or null. */
export function whyNoSystemd(): string | null {
  if (!existsSync('/run/systemd/system')) return 'systemd does not run here'
  return process.getuid?.() === 0 ? null : 'only root may start a unit'
}

const systemctl = (...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync('systemctl', args, { encoding: 'utf8', timeout: 120_000 })
  if (status !== 0) throw new Error(`systemctl ${args.join(' ')}: ${stderr.trim()}`)
  return stdout.trim()
}

/** Starts a unit of this text under a name of its own; it is gone after `stop`, which answers how it ended. */
export function startUnit(name: string, text: string): { stop(): string } {
  const unit = `touchstone-test-${process.pid}-${name}`
  const path = `/run/systemd/system/${unit}`
  writeFileSync(path, text)
  systemctl('daemon-reload')
  systemctl('start', unit)
  return {
    stop: () => {
      try {
        systemctl('stop', unit)
        return systemctl('show', '--property=Result,ExecMainStatus', unit)
      } finally {
        rmSync(path)
        systemctl('daemon-reload')
      }
    },
  }
}
