import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { installedSuite } from '../suites/installedSuite.ts'
import { layOut, readContainerfile } from '../support/containerfile.ts'
import { skipWith } from '../support/skipWith.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'touchstone-container-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const isOurs = process.platform === 'linux' && process.arch === 'x64'
const laid = 'the image, laid out in a plain folder by the steps of the Containerfile'
if (!isOurs) skipWith(laid, 'its steps need Linux on x86-64')
else
  installedSuite(laid, () => {
    const { command, env, folder: image } = layOut(folder)
    const { PATH: _, ...given } = env
    return { command: [join(image, 'usr/local/bin', command[0]!)], env: given }
  })

/** The first engine that answers and has the base images; nothing is fetched from anywhere. */
function findEngine(): { readonly engine: string } | { readonly why: string } {
  const bases = readContainerfile().flatMap(({ name, text }) => (name === 'FROM' ? [text.split(' ')[0]!] : []))
  const whys = ['podman', 'docker'].map((engine) => {
    const asks = (...args: string[]) => spawnSync(engine, args, { timeout: 30_000 }).status === 0
    if (!asks('info')) return { engine, why: `${engine} does not answer` }
    const missing = bases.find((image) => !asks('image', 'inspect', image))
    return { engine, why: missing === undefined ? null : `${engine} has no ${missing}` }
  })
  const able = whys.find(({ why }) => why === null)
  return able ?? { why: whys.map(({ why }) => why).join('; ') }
}

describe('with a container engine', () => {
  const found = findEngine()
  const what = 'the image is built, verifies the machine in a container that is read-only, and checks what it wrote'
  if ('why' in found) skipWith(what, found.why)
  else
    test(what, () => {
      const { engine } = found
      const image = `touchstone-test:${process.pid}`
      const work = mkdtempSync(join(folder, 'work-'))
      chmodSync(work, 0o777)
      const ask = (...args: string[]) => spawnSync(engine, args, { cwd: root, encoding: 'utf8' })
      const run = (...args: string[]) =>
        ask('run', '--rm', '--read-only', '--tmpfs', '/tmp', '--network', 'none', '-v', `${work}:/work`, image, ...args)
      try {
        expect(ask('build', '--pull=never', '-f', 'Containerfile', '-t', image, '.')).toMatchObject({ status: 0 })
        expect(run('verify', '--preset', 'tiny', '--devices', 'cpu', '--out', 'c.json')).toMatchObject({ status: 0 })
        // Each container is another machine with another key: whose word to take is for the reader to say.
        expect(run('check', 'c.json', '--json').stdout).toContain('UNKNOWN_SIGNER')
      } finally {
        ask('rmi', '--force', image)
      }
    })
})
