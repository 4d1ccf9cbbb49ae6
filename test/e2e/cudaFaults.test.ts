import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildStubDriver, whyNoStubDriver } from '../support/stubDriver/buildStubDriver.ts'

const program = fileURLToPath(new URL('../../dist/main/touchstone.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'touchstone-cuda-faults-'))
const out = join(folder, 'certificate.json')

interface Ended {
  readonly status: number | null
  readonly said: string
}

/** `touchstone` with the stand-in for NVIDIA's library, some of whose calls fail. */
function touchstone(failing: string, ...args: string[]): Promise<Ended> {
  const env = {
    ...process.env,
    TOUCHSTONE_HOME: join(folder, 'home'),
    TOUCHSTONE_CUBLASLT: 'none',
    LD_LIBRARY_PATH: folder,
    STUB_CUDA: failing,
    NO_COLOR: '1',
  }
  const child = spawn(process.execPath, [program, ...args], { env, timeout: 30_000, killSignal: 'SIGKILL' })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, said })))
}

const COMMANDS = {
  verify: ['verify', '--preset', 'tiny', '--devices', 'cuda', '--out', out],
  bench: ['bench', '--devices', 'cuda', '--precisions', 'int8'],
} as const

/** By the calls that fail: the code, the card it names, and what to do. The stand-in has none of the later calls. */
const FAULTS = [
  ['bench', 'cuInit=100', 'NO_GPU', /the driver sees no card/, /nvidia-smi -L/],
  ['bench', 'cuInit=803', 'GPU_DRIVER_MISMATCH', /driver and kernel module differ/, /Reboot the box/],
  ['bench', 'cuDevicePrimaryCtxRetain=2', 'OUT_OF_MEMORY', /card 0 \(NVIDIA Stub 0\): /, /Free memory on the card/],
  ['bench', '', 'GPU_DRIVER_TOO_OLD', /card 0 \(NVIDIA Stub 0\): .*cuModuleGetFunction/, /Install NVIDIA driver 470/],
  ['verify', 'cuDevicePrimaryCtxRetain=46', 'GPU_BUSY', /card 0 \(NVIDIA Stub 0\): .*UNAVAILABLE/, /Stop the other/],
  ['verify', 'cuModuleLoadData=222', 'GPU_KERNEL_REFUSED', /card 0 \(NVIDIA Stub 0\): /, /Install NVIDIA driver 470/],
] as const

describe.skipIf(whyNoStubDriver() !== null)('touchstone on a box whose card fails', () => {
  const running = new Map<string, Promise<Ended>>()
  beforeAll(() => {
    mkdirSync(join(folder, 'home'))
    buildStubDriver(folder)
    for (const [command, failing] of FAULTS) running.set(failing, touchstone(failing, ...COMMANDS[command]))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each(FAULTS)(
    '%s with "%s" ends with 3: %s, which card, and what to do',
    async (_, failing, code, card, step) => {
      const { status, said } = await running.get(failing)!
      expect({ status, said }).toMatchObject({ status: 3, said: expect.stringContaining(`[${code}]`) })
      expect(said).toMatch(card)
      expect(said).toMatch(step)
      expect(said).not.toMatch(/\n\s+at /)
      expect(existsSync(out)).toBe(false)
    },
  )
})
