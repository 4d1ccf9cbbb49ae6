import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { containerSuite } from '../../../test/suites/containerSuite.ts'
import { runningEngines } from '../../../test/support/containerEngines.ts'

const root = mkdtempSync(join(tmpdir(), 'touchstone-engine-'))
/** One is enough here; the long tests take every engine there is. */
const [engine] = runningEngines(root)
afterAll(() => {
  engine?.close()
  rmSync(root, { recursive: true, force: true })
})

if (engine) containerSuite(engine, root)
else test.skip('a lease in a container of docker or podman')
