import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../dist/main/touchstone.js', import.meta.url))
const GRACE_MS = 5_000

/**
 * Starts the command line program of this clone. `ended` always resolves: a run past its limit is asked to end, then made
 * to. `saw` waits for something on standard error, where progress is told line by line.
 */
export function startTouchstone({ args, env, limitSeconds }) {
  const began = performance.now()
  const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const text = { out: '', error: '' }
  const waiting = new Set()
  let timedOut = false
  const timers = [
    setTimeout(() => {
      timedOut = true
      child.kill('SIGTERM')
    }, limitSeconds * 1000),
    setTimeout(() => child.kill('SIGKILL'), limitSeconds * 1000 + GRACE_MS),
  ]
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text.out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    text.error += chunk
    for (const { pattern, resolve } of waiting) if (pattern.test(text.error)) resolve(true)
  })
  const ended = new Promise((resolve) =>
    child.once('close', (code) => {
      for (const timer of timers) clearTimeout(timer)
      for (const one of waiting) one.resolve(false)
      resolve({ code, ...text, seconds: (performance.now() - began) / 1000, timedOut })
    }),
  )
  /** False where the run ended without it. */
  const saw = (pattern) =>
    pattern.test(text.error) ? Promise.resolve(true) : new Promise((resolve) => waiting.add({ pattern, resolve }))
  return { child, ended, saw }
}
