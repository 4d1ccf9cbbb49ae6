import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const has = (tool: string) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).status === 0
const linkers = { wasm: has('wasm-ld-19'), so: has('ld.lld-19') }

test.skipIf(!has('clang-19'))('the committed kernels are what clang-19 makes of the source, byte for byte', () => {
  const { status, stdout } = spawnSync(process.execPath, ['kernels/build.mjs', '--check'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(stdout).not.toContain('DIFFERS')
  expect(status).toBe(0)
  for (const name of [
    'engine.wasm',
    'engine-relaxed.wasm',
    'device.wasm',
    'work.wasm',
    'native-avx2.so',
    'native-avx512.so',
  ]) {
    const linked = name.endsWith('.so') ? linkers.so : linkers.wasm
    expect(stdout).toContain(linked ? `${name} matches` : `skipped ${name}`)
  }
})
