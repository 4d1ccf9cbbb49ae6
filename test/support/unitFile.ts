import { readFileSync } from 'node:fs'

/** What a systemd unit of examples/ says of its service. */
export interface UnitFile {
  readonly text: string
  /** The words of its command. */
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

/** Reads the few lines that our units have: one command, plain settings, no quotes. */
export function readUnit(name: string): UnitFile {
  const text = readFileSync(new URL(`../../examples/${name}`, import.meta.url), 'utf8')
  const all = (key: string) => [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value!)
  const [command, ...more] = all('ExecStart')
  if (command === undefined || more.length > 0 || /["'\\$%]/.test(command))
    throw new Error(`${name}: not one plain command`)
  const settings = all('Environment').map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string])
  return { text, command: command.split(' '), environment: Object.fromEntries(settings) }
}
