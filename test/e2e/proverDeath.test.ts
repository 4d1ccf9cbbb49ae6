import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { greetProver } from '../../src/apps/validator/greetProver.ts'
import { ProverSession } from '../../src/apps/validator/proverSession.ts'
import { openLocalBox } from '../../src/drivers/remote/local/openLocalBox.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import { TouchstoneError } from '../../src/ports/errors.ts'
import type { ProverProcess } from '../../src/ports/remoteBox.ts'

const prover = fileURLToPath(new URL('../../dist/main/prover.js', import.meta.url))
const never = new AbortController().signal

/** A real process, greeted by the real validator: the fault that comes of it, and how the process ended. */
async function greeted(command: readonly string[], nodeOptions = '') {
  const box = openLocalBox({ command, env: { ...process.env, NODE_OPTIONS: nodeOptions } })
  const child = await box.start(never)
  const session = new ProverSession(child, systemClock)
  const fault: unknown = await greetProver({
    session,
    clock: systemClock,
    randomness: systemRandomness,
    signal: never,
  }).catch((error) => error)
  const { code } = await child.ended
  await box.close()
  if (!(fault instanceof TouchstoneError)) throw new Error('the prover was ready', { cause: fault })
  return { fault, code }
}
const shell = (script: string) => ['/bin/sh', '-c', script]

test('a prover that cannot open its devices says so itself, and ends with 3', async () => {
  const { fault, code } = await greeted([process.execPath, prover, '--devices', 'abacus'])
  expect(fault).toMatchObject({ detail: { code: 'PROVER_FAULT', prover: 'UNKNOWN_DEVICE' }, blame: 'prover' })
  expect(fault.message).toContain('no kind of device called abacus. Use auto, cpu')
  expect(code).toBe(3)
})

test('what nobody catches in the prover is said too', async () => {
  const late = `const wait = setInterval(() => {
    if (process.listenerCount('uncaughtException') === 0) return
    clearInterval(wait)
    throw new Error('a bad day')
  }, 1)`
  const preload = `--import data:text/javascript,${encodeURIComponent(late)}`
  const { fault, code } = await greeted([process.execPath, prover, '--devices', 'cpu'], preload)
  expect(fault).toMatchObject({ detail: { code: 'PROVER_FAULT', prover: 'PROVER_FAULT', said: 'a bad day' } })
  expect(code).toBe(3)
})

test('a prover that does not even start is told by its exit code and the message of its crash', async () => {
  const { fault } = await greeted([process.execPath, prover], '--require /nowhere/native.cjs')
  expect(fault).toMatchObject({ detail: { code: 'PROVER_DID_NOT_START', expected: 'welcome' }, blame: 'prover' })
  expect(fault.message).toContain('the prover ended with exit code 1 while "welcome" was expected; its last words: ')
  expect(fault.message).toContain("Error: Cannot find module '/nowhere/native.cjs'")
  expect(fault.message).not.toContain('loadPreloadModules')
  expect(fault.nextStep).toBe('Fix what it reports on the box, then run again.')
})

test.each([
  ['kill -SEGV $$', 'ended by signal 11', ''],
  ['printf "\\033[2J\\033]0;evil\\007" >&2; exit 127', 'ended with exit code 127', '?[2J?]0;evil?'],
])('a prover that dies by "%s" is told so in plain letters', async (script, how, said) => {
  const { fault } = await greeted(shell(script))
  expect(fault.detail).toMatchObject({ code: 'PROVER_DID_NOT_START', expected: 'welcome', said })
  expect(fault.message).toContain(`the prover ${how} while`)
  expect(fault.message).toMatch(/^[\x20-\x7e]{1,400}$/)
})

test("a line that was cut is nobody's lie: the network is blamed, not the prover", async () => {
  const ended = Promise.resolve({ code: null, lost: true, said: '' })
  const cut: ProverProcess = {
    write: () => Promise.reject(new Error()),
    output: nothing(),
    ended,
    stop: async () => {},
  }
  const session = new ProverSession(cut, systemClock)
  const greeting = greetProver({ session, clock: systemClock, randomness: systemRandomness, signal: never })
  await expect(greeting).rejects.toMatchObject({ detail: { code: 'BOX_CONNECTION_LOST' }, blame: 'network' })
})

async function* nothing(): AsyncGenerator<Uint8Array> {}
