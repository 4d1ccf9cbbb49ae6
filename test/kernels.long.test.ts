import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const clang = spawnSync('clang-19', ['--version'], { stdio: 'ignore' }).status === 0

test.skipIf(!clang)('the committed PTX is what clang makes of the source (skipped where clang-19 is absent)', () => {
  const { status, stdout } = spawnSync(process.execPath, ['kernels/build.mjs', '--check'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(stdout).not.toContain('DIFFERS')
  expect(status).toBe(0)
})
