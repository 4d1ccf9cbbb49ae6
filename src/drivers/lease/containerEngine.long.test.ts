import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { containerSuite } from '../../../test/suites/containerSuite.ts'
import { NO_ENGINE, runningEngines } from '../../../test/support/containerEngines.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { gone, killHard, LeasedBox } from '../../../test/support/leaseCrash.ts'
import { isInUse, runNode } from '../../../test/support/processes.ts'
import { skipWith } from '../../../test/support/skipWith.ts'

const root = mkdtempSync(join(tmpdir(), 'touchstone-engines-'))
const engines = [...runningEngines(root, ['node'])]
afterAll(() => {
  for (const engine of engines) engine.close()
  rmSync(root, { recursive: true, force: true })
})

for (const engine of engines) containerSuite(engine, root)
if (engines.length === 0) skipWith('a lease in a container of docker or podman', NO_ENGINE)

const program = fileURLToPath(new URL('../../../dist/main/touchstone.js', import.meta.url))
const FAST = ['--preset', 'tiny', '--devices', 'cpu', '--precisions', 'int8', '--no-memory', '--no-bind', '--json']

describe.each(engines)('touchstone provider --image with $name', ({ name, image, ask }) => {
  test('the real prover is genuine inside, the report says where it ran, and nothing is left', async () => {
    const box = new LeasedBox()
    try {
      await box.open(['--confinement', 'container', '--image', image])
      const { port, key, confinement } = box.provider!.find('listening') as Record<string, string>
      expect(confinement).toBe('container')
      // The other engine may be on this machine too, but does not hold the image.
      const target = `lease://127.0.0.1:${port}#${key}`
      const verified = await runNode([program, 'verify', target, ...FAST, '--out', join(root, `${name}.json`)], {
        ...process.env,
        TOUCHSTONE_HOME: join(root, 'state'),
      })
      expect([verified.code, verified.err]).toEqual([0, expect.anything()])
      const report = JSON.parse(verified.out)
      expect(report).toMatchObject({ judgement: { outcome: 'accepted' }, access: { confinement: 'container' } })
      expect(box.leasedKeys()).toEqual([])
      await eventually(() => box.openFolders().length === 0)
      expect(ask('ps', '--all', '--format', '{{.Names}}')).not.toContain('touchstone-')
      expect(readdirSync(box.home)).toEqual([])
    } finally {
      await box.close()
    }
  })

  // By a stage of the lease or by milliseconds after it was asked for: some of them while the engine starts the container.
  const MOMENTS = ['asking', 100, 200, 400, 800, 'connected', 'held'] as const
  test.each(MOMENTS.flatMap((when) => [true, false].map((restart) => [when, restart] as const)))(
    'a provider killed at "%s" (started again: %s) leaves no key and no container',
    async (when, restart) => {
      const box = new LeasedBox()
      try {
        await box.open(['--confinement', 'container', '--image', image])
        const holder = box.startHolder(5)
        const stage = typeof when === 'number' ? 'asking' : when
        await eventually(() => holder.find(stage) !== undefined || gone(holder))
        if (typeof when === 'number') await new Promise((resolve) => setTimeout(resolve, when))
        await killHard(box.provider!)
        if (restart) await box.startProvider()
        await killHard(holder)
        // Whatever is under way has begun by now, and its time is over.
        await new Promise((resolve) => setTimeout(resolve, 6_000))
        await eventually(() => ask('ps', '--all', '--format', '{{.Names}}') === '')
        await eventually(() => box.leasedKeys().length === 0 && box.openFolders().length === 0)
      } finally {
        await box.close()
        // The watchdog looks once more, and needs the engine for that.
        await eventually(() => !isInUse(box.keysFile))
      }
    },
  )
})
