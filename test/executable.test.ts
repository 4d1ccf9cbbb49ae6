import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bareNode } from '../src/drivers/remote/bareNode.ts'
import { skipWith } from './support/skipWith.ts'

interface Scripts {
  injectBlob(node: Buffer, blob: Buffer): Buffer
}
const scripts = new URL('../scripts/injectBlob.mjs', import.meta.url).href

/** A program for Node's own single-executable support. */
function blobOf(folder: string, script: string): Buffer {
  writeFileSync(join(folder, 'main.cjs'), script)
  writeFileSync(join(folder, 'sea.json'), '{"main":"main.cjs","output":"blob","disableExperimentalSEAWarning":true}')
  spawnSync(process.execPath, ['--experimental-sea-config', 'sea.json'], { cwd: folder })
  return readFileSync(join(folder, 'blob'))
}

if (process.platform !== 'linux' || process.arch !== 'x64')
  skipWith('an executable that carries a program', 'it is made for Linux on x86-64 alone')
else
  describe('an executable that carries a program (all of ours: test/e2e/executable.long.test.ts)', () => {
    test('runs it with the arguments it is given, and gives back its Node bit for bit', async () => {
      const { injectBlob } = (await import(scripts)) as Scripts
      const folder = mkdtempSync(join(tmpdir(), 'touchstone-inject-'))
      const node = readFileSync(process.execPath)
      const made = injectBlob(node, blobOf(folder, 'console.log(JSON.stringify(process.argv.slice(2)))'))
      writeFileSync(join(folder, 'program'), made, { mode: 0o755 })
      const { status, stdout } = spawnSync(join(folder, 'program'), ['--version', 'x y'], { encoding: 'utf8' })
      rmSync(folder, { recursive: true })
      expect({ status, stdout }).toEqual({ status: 0, stdout: '["--version","x y"]\n' })
      expect(bareNode(made).equals(node)).toBe(true)
      expect(() => injectBlob(made, Buffer.alloc(1))).toThrow('carries a program already')
    })

    test('anything else is taken as it is: no Node, a short file, a trailer that points outside', async () => {
      const bent = Buffer.concat([Buffer.alloc(100, 7), Buffer.alloc(16, 255), Buffer.from('touchstone/node\n')])
      for (const program of [Buffer.alloc(0), Buffer.from('#!/bin/sh\n'), bent]) expect(bareNode(program)).toBe(program)
      const { injectBlob } = (await import(scripts)) as Scripts
      expect(() => injectBlob(Buffer.from('#!/bin/sh\n'), Buffer.alloc(1))).toThrow('no program for Linux')
    })
  })
