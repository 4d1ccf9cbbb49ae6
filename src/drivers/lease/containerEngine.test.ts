import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { containerSuite } from '../../../test/suites/containerSuite.ts'
import { NO_ENGINE, runningEngines } from '../../../test/support/containerEngines.ts'
import { skipWith } from '../../../test/support/skipWith.ts'

const root = mkdtempSync(join(tmpdir(), 'touchstone-engine-'))
/** One is enough here; the long tests take every engine there is. */
const [engine] = runningEngines(root)
afterAll(() => {
  engine?.close()
  rmSync(root, { recursive: true, force: true })
})

if (engine) containerSuite(engine, root)
else skipWith('a lease in a container of docker or podman', NO_ENGINE)
