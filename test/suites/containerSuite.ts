import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import type { Lease } from '../../src/core/lease/leaseBook.ts'
import { containerAccess, containerOf } from '../../src/drivers/lease/containerAccess.ts'
import { connectLeased } from '../../src/drivers/remote/leased/connectLeased.ts'
import type { ContainerEngine } from '../support/containerEngines.ts'
import { eventually } from '../support/eventually.ts'
import { leasableBox, listening } from '../support/leasableBox.ts'
import { firstLine, isInUse } from '../support/processes.ts'
import { readAll } from './sshBoxSuite.ts'

/** Says where it is, starts somebody who will not go away, and then gives back what it is sent. */
const PROVER = `
while read -r name value rest; do
  case $name in CapEff: | NoNewPrivs:) printf '%s%s ' "$name" "$value" ;; esac
done < /proc/self/status
for net in /sys/class/net/*; do printf '%s ' "\${net##*/}"; done
(trap '' TERM HUP; while :; do sleep 1; done) &
echo "$HOME"
exec cat
`

const never = new AbortController().signal
const LEASE: Omit<Lease, 'id' | 'expiresAtMs'> = {
  holder: 'f'.repeat(64),
  purpose: 'verify',
  sshKey: 'ssh-ed25519 AAAA',
  askedAtMs: 0,
  state: 'requested',
}

/** A provider that leases into containers of a real engine, behind a real SSH server. */
async function openBox(engine: ContainerEngine, root: string, { onTestFinished }: TestContext) {
  const folder = mkdtempSync(join(root, `${engine.name}-`))
  const { shared, options, server } = await leasableBox(folder, PROVER)
  const { program, image, ask } = engine
  const access = containerAccess({ ...shared, engine: program, image, gpuFlags: [], env: process.env })
  const provider = await listening(access, never)
  onTestFinished(async () => {
    await provider.close()
    await server.close()
  })
  const lease = async () => {
    // As one that carries Node: this prover needs none, and the image is smaller without.
    const flavours = options.ssh.flavours.map((flavour) => ({ ...flavour, carriesNode: true }))
    const box = await connectLeased(await provider.dial(), { ...options, ssh: { ...options.ssh, flavours } }, never)
    onTestFinished(() => box.close())
    return box
  }
  const keys = () => readFileSync(shared.authorizedKeysFile, 'utf8')
  const leased = () => /touchstone-lease-([0-9a-f]{32})/.exec(keys())![1]!
  const isThere = (id: string) => ask('ps', '--all', '--format', '{{.Names}}').split('\n').includes(containerOf(id))
  return { shared, server, access, lease, keys, leased, isThere }
}

/** What a lease in a container promises, on an engine that really runs one. */
export function containerSuite(engine: ContainerEngine, root: string): void {
  describe.concurrent(`a lease in a container of ${engine.name}`, () => {
    test('runs every command inside, without network or privileges, and is gone when given back', async (context) => {
      const { expect } = context
      const { lease, keys, leased, isThere } = await openBox(engine, root, context)
      const box = await lease()
      expect(box.access).toMatchObject({ confinement: 'container' })
      const id = leased()
      expect(isThere(id)).toBe(true)
      const prover = await box.start(never)
      expect(await firstLine(prover)).toBe('CapEff:0000000000000000 NoNewPrivs:1 lo /')
      const got = readAll(prover.output)
      await prover.write(Buffer.from('inside'))
      await prover.stop()
      expect((await got).toString()).toBe('inside')
      await box.close()
      expect([isThere(id), keys()]).toEqual([false, ''])
    })

    test('a line that is cut ends what ran inside, and nobody stays as a zombie', async (context) => {
      const { expect } = context
      const { lease, leased, server } = await openBox(engine, root, context)
      const prover = await (await lease()).start(never)
      await firstLine(prover)
      const format = engine.name === 'docker' ? [] : ['pid', 'args']
      const processes = () => engine.ask('top', containerOf(leased()), ...format)
      expect(processes()).toContain('cat')
      server.cut()
      // A head line, the first process, and what that one waits for.
      await eventually(() => processes().split('\n').length <= 3)
    })

    test('ends with its lease although its watchdog has gone', async (context) => {
      const { shared, access, isThere } = await openBox(engine, root, context)
      const lease = { ...LEASE, id: 'b'.repeat(32), expiresAtMs: Date.now() + 3_000 }
      await access.open(lease, never)
      context.expect(isThere(lease.id)).toBe(true)
      const folder = join(shared.stateFolder, 'open', lease.id)
      rmSync(folder, { recursive: true })
      await eventually(() => !isInUse(folder))
      await eventually(() => !isThere(lease.id))
    })

    test('ends by itself when nobody closes it, and does not wait for the grace of the engine', async (context) => {
      const { expect } = context
      const { shared, access, keys, isThere } = await openBox(engine, root, context)
      const lease = { ...LEASE, id: 'a'.repeat(32), expiresAtMs: Date.now() + 4_000 }
      await access.open(lease, never)
      expect(isThere(lease.id)).toBe(true)
      await eventually(() => keys() === '')
      const keyGone = Date.now()
      await eventually(() => !isThere(lease.id))
      // Ten seconds is what podman gives a container that does not end when told to.
      expect(Date.now() - keyGone).toBeLessThan(8_000)
      const folder = join(shared.stateFolder, 'open', lease.id)
      await eventually(() => !existsSync(folder))
      // It looks once more a little later, and needs the engine and its storage for that.
      await eventually(() => !isInUse(folder))
    })
  })
}
