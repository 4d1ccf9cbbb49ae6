import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { embeddedFolder } from './support/embeddedFolder.ts'
import { eventually } from './support/eventually.ts'
import { freePort } from './support/freePort.ts'
import { keyPair } from './support/keyPair.ts'
import { skipWith } from './support/skipWith.ts'
import { startUnit, whyNoSystemd } from './support/systemd.ts'
import { readUnit } from './support/unitFile.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const unit = readUnit('touchstone-validator.service')
const isUp = (port: number) => async () =>
  (await fetch(`http://127.0.0.1:${port}/health`).catch(() => null))?.status === 200

interface Compose {
  readonly services: Record<string, { readonly image: string; readonly command?: readonly string[] }>
}
const composeFile = join(root, 'examples', 'compose.yaml')
const { services } = parse(readFileSync(composeFile, 'utf8')) as Compose

/** Why the containers of the compose file cannot be started here, or null. Nothing is fetched from anywhere. */
function whyNoCompose(): string | null {
  const docker = (...args: string[]) => spawnSync('docker', args, { encoding: 'utf8', timeout: 20_000 }).status === 0
  if (!docker('compose', 'version')) return 'docker compose is not installed'
  if (!docker('info')) return 'no docker daemon answers'
  const missing = Object.values(services).find(({ image }) => !docker('image', 'inspect', image))
  return missing ? `the image ${missing.image} is not here` : null
}

test('the compose file runs the command that the unit runs (test/e2e/validator.test.ts starts it)', () => {
  // The entry point of the image is `touchstone` (test/containerfile.test.ts).
  const words = unit.command.slice(unit.command.indexOf('touchstone') + 1)
  expect(services.validator!.command).toEqual(words)
})

describe('where the machine lets us', { timeout: 180_000 }, () => {
  const noSystemd = whyNoSystemd()
  const starts = 'systemd starts the unit, it answers, and it stops in order'
  if (noSystemd !== null) skipWith(starts, noSystemd)
  else
    test(starts, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'touchstone-unit-'))
      const store = await embeddedFolder()
      const port = await freePort()
      const config = join(folder, 'validator.yaml')
      writeFileSync(config, `store: embedded:${store.folder}\napi: { port: ${port} }\n`)
      const text = unit.text
        .replace('User=touchstone', 'User=root')
        .replace('PrivateTmp=true', 'PrivateTmp=false')
        .replace('ReadWritePaths=/var/lib/touchstone', `ReadWritePaths=${folder} ${join(store.folder, '..')}`)
        .replaceAll('=/var/lib/touchstone', `=${folder}`)
        .replace('/usr/bin/env touchstone', `${process.execPath} ${join(root, 'dist/main/touchstone.js')}`)
        .replace('/etc/touchstone/validator.yaml', config)
      const started = startUnit('validator.service', text)
      try {
        await eventually(isUp(port))
      } finally {
        expect(started.stop()).toContain('Result=success')
        store.end()
        rmSync(folder, { recursive: true })
      }
    })

  const offers = 'systemd starts the unit of the provider, which listens, and stops in order'
  if (noSystemd !== null) skipWith(offers, noSystemd)
  else
    test(offers, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'touchstone-unit-'))
      const port = await freePort()
      const hostKey = join(folder, 'host.pub')
      writeFileSync(hostKey, keyPair().public)
      const here = `--listen 127.0.0.1:${port} --check none --no-ssh-check --host-key-file ${hostKey}`
      const text = readUnit('touchstone-provider.service')
        .text.replace('/usr/bin/env touchstone', `${process.execPath} ${join(root, 'dist/main/touchstone.js')}`)
        .replace('=/var/lib/touchstone-provider', `=${folder}`)
        .replace(/(--ssh-host) gpu-1.example.org/, `$1 127.0.0.1 ${here}`)
      const started = startUnit('provider.service', text)
      try {
        await eventually(() => existsSync(join(folder, 'leases', 'provider.json')))
      } finally {
        expect(started.stop()).toContain('Result=success')
        rmSync(folder, { recursive: true })
      }
    })

  const noCompose = whyNoCompose()
  const composed = 'docker compose starts the validator with its database, and it answers'
  if (noCompose !== null) skipWith(composed, noCompose)
  else
    test(composed, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'touchstone-compose-'))
      const port = await freePort()
      writeFileSync(
        join(folder, 'validator.yaml'),
        'store: postgres://touchstone:change-me@db/touchstone\napi: { host: 0.0.0.0 }\nbackups: /var/lib/touchstone/backups\n',
      )
      const text = readFileSync(composeFile, 'utf8')
        .replace('context: ..', `context: ${root}`)
        .replace('127.0.0.1:8787:8787', `127.0.0.1:${port}:8787`)
      writeFileSync(join(folder, 'compose.yaml'), text)
      const compose = (...args: string[]) =>
        spawnSync('docker', ['compose', '--project-name', `touchstone-test-${process.pid}`, ...args], {
          cwd: folder,
          encoding: 'utf8',
          timeout: 120_000,
        })
      try {
        expect(compose('up', '--detach', '--pull', 'never').stderr).not.toContain('rror')
        await eventually(isUp(port))
      } finally {
        compose('down', '--volumes')
        rmSync(folder, { recursive: true })
      }
    })
})
