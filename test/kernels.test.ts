import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const has = (tool: string) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).status === 0
const clang = has('clang-19')
const linkers = { wasm: has('wasm-ld-19'), so: has('ld.lld-19') }

const check = (...options: string[]) =>
  spawnSync(process.execPath, ['kernels/build.mjs', '--check', ...options], { cwd: root, encoding: 'utf8' })

describe('the committed kernels', () => {
  test('have the committed checksums, and are what clang-19 makes of the source where it is installed', () => {
    const { status, stdout } = check('--no-ptx')
    expect(stdout).not.toContain('DIFFERS')
    expect(status).toBe(0)
    for (const name of ['engine.wasm', 'device.wasm', 'work.wasm', 'native-avx2.so', 'native-avx512.so']) {
      const linked = name.endsWith('.so') ? linkers.so : linkers.wasm
      expect(stdout).toContain(clang && linked ? `${name} matches` : `skipped ${name}`)
    }
  })

  test('name no path of the machine that built them', () => {
    const built = new URL('../kernels/built/', import.meta.url)
    for (const name of readdirSync(built)) {
      const text = readFileSync(new URL(name, built), 'latin1')
      expect(text.match(/\/(home|root|tmp|work|usr|build)\//), name).toBeNull()
    }
  })
})
