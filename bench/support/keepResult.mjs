import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'

/** Writes figures to bench/results/NAME.json, with the command that makes them and the machine they were made on; returns it all. */
export function keepResult(name, command, figures) {
  const result = {
    command,
    date: new Date().toISOString(),
    cpu: cpus()[0]?.model,
    cores: availableParallelism(),
    node: process.version,
    load: loadavg(),
    ...figures,
  }
  const folder = new URL('../results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(result, null, 2)}\n`)
  return result
}
