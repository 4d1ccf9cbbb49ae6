// Command lines one after another, each to its end, in one process: the program is loaded once and everything else is its own.
import { fileURLToPath } from 'node:url'

const program = new URL('../../dist/main/touchstone.js', import.meta.url)
// Every command listens for signals and for streams that close, and nobody tells it to stop.
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0)

let count = 0
process.on('message', async ({ args, env }) => {
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'])
    process[name].write = (text) => {
      said[name] += text
      return true
    }
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name] ?? '']))
  Object.assign(process.env, env)
  process.argv = [process.execPath, fileURLToPath(program), ...args]
  process.exitCode = 0
  await import(`${program.href}?${count++}`)
  Object.assign(process.env, before)
  process.send({ ...said, status: process.exitCode })
})
