import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SILENT_LOG } from '../../../test/support/silentLog.ts'
import { temporaryFolder } from '../../../test/support/temporaryFolder.ts'
import { unshownReports } from './unshownReports.ts'

test('attack 365: reports that are not shown yet are there after a restart, for nobody else, and none that is not kept stops a validator', () => {
  const folder = temporaryFolder()
  const told: string[] = []
  const log = { ...SILENT_LOG, error: (message: string) => void told.push(message) }
  const path = join(folder, 'unshown.ssz')
  expect(unshownReports(path, log).read()).toEqual(new Uint8Array(0))
  unshownReports(path, log).write(Uint8Array.of(1, 2))
  expect([unshownReports(path, log).read(), statSync(path).mode & 0o777]).toEqual([Uint8Array.of(1, 2), 0o600])
  unshownReports(join(path, 'beneath a file'), log).write(Uint8Array.of(3))
  expect(told).toEqual(['a report was not kept'])
})
