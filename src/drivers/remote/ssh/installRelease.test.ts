import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { faultOf, readAll, readBytes, SCRIPTS } from '../../../../test/suites/sshBoxSuite.ts'
import { makeRelease } from '../../../../test/support/makeRelease.ts'
import { never, useSshBoxes } from '../../../../test/support/sshBoxes.ts'

const { root, withBox } = useSshBoxes()

/** A folder of programs to stand in for PATH, without those named. */
function programsWithout(missing: readonly string[], extra: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(root, 'bin-'))
  const needed = ['sh', 'mkdir', 'rm', 'cat', 'id', 'uname', 'head', 'df', 'find', 'sleep', 'sha256sum', 'node']
  const places = ['/usr/bin', '/bin', '/usr/local/bin', ...process.env.PATH!.split(':')]
  for (const name of needed.filter((program) => !missing.includes(program) && !(program in extra))) {
    const place = places.find((candidate) => readdirSync(candidate).includes(name))
    if (place !== undefined) symlinkSync(join(place, name), join(folder, name))
  }
  for (const [name, text] of Object.entries(extra)) writeFileSync(join(folder, name), text, { mode: 0o755 })
  return folder
}

describe.concurrent('installRelease', () => {
  test('a full disk is said so before anything is written', async () => {
    const df = '#!/bin/sh\necho Filesystem\necho "/dev/x 1000 996 4 99% /"\n'
    await withBox({ env: { PATH: programsWithout([], { df }) } }, {}, async (connect, home) => {
      const box = await connect()
      const { detail } = await faultOf(box.install(never))
      expect(detail).toMatchObject({ code: 'BOX_DISK_FULL', freeBytes: 4096 })
      expect(detail.folder).toMatch(/^"\/.*"$/)
      await box.close()
      expect(readdirSync(home)).toEqual([])
    })
  })

  test('a write that fails on the box is said so, and nothing is left', async () => {
    await withBox({ failWrites: true }, {}, async (connect, home) => {
      const box = await connect()
      expect((await faultOf(box.install(never))).detail).toMatchObject({ code: 'BOX_UPLOAD_FAILED', path: 'p.sh' })
      await box.close()
      expect(readdirSync(home)).toEqual([])
    })
  })

  test('a file of ours that is gone in mid-way is no fault of the box', async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i}.txt`, `part ${i}`]))
    const directory = makeRelease(join(root, 'gone'), { files, command: ['sh', '0.txt'] })
    const flavours = [{ directory, machine: 'any', carriesNode: false }]
    const onUpload = () => rmSync(directory, { recursive: true, force: true })
    await withBox({}, { flavours, onUpload }, async (connect) => {
      const { detail } = await faultOf((await connect()).install(never))
      expect(detail).toMatchObject({ code: 'BAD_RELEASE', directory })
    })
  })

  test('a release of many files goes there several at a time, and one that fails ends them all', async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`part/${i}.txt`, `part ${i}`]))
    const directory = makeRelease(join(root, 'many'), {
      files: { ...files, 'p.sh': SCRIPTS.echo },
      command: ['sh', 'p.sh'],
    })
    const flavours = [{ directory, machine: 'any', carriesNode: false }]
    const opened: number[] = []
    await withBox({ onOpenFiles: (count) => opened.push(count) }, { flavours }, async (connect) => {
      await (await connect()).install(never)
      expect(Math.max(...opened)).toBeGreaterThan(1)
      expect(Math.max(...opened)).toBeLessThanOrEqual(8)
    })
    await withBox(
      { failWrites: true, onOpenFiles: (count) => opened.push(count) },
      { flavours },
      async (connect, home) => {
        opened.length = 0
        const box = await connect()
        expect((await faultOf(box.install(never))).detail).toMatchObject({ code: 'BOX_UPLOAD_FAILED' })
        expect(opened.length).toBeLessThanOrEqual(2 * 8)
        expect(opened.at(-1)).toBe(0)
        await box.close()
        expect(readdirSync(home)).toEqual([])
      },
    )
  })

  test('attack 440: a server that does not close SFTP after the installation is dropped, and is to blame', async () => {
    await withBox({ keepsSftp: true }, {}, async (connect) => {
      const fault = await faultOf((await connect()).install(never))
      expect([fault.detail.code, fault.blame]).toEqual(['SFTP_NOT_CLOSED', 'prover'])
    })
  })

  test('a server without SFTP gets the release through commands', async () => {
    await withBox({ noSftp: true }, { keep: true }, async (connect, home) => {
      const box = await connect()
      const prover = await box.start(never)
      await prover.write(Buffer.from('hello'))
      expect((await readBytes(prover, 5)).toString()).toBe('hello')
      await prover.stop()
      expect(box.access.uploadedBytes).not.toBe('0')
      await box.close()
      expect(readdirSync(join(home, '.cache/touchstone'))).toEqual([])
    })
  })

  test('without sha256sum the files are read back, and a difference is found either way', async () => {
    const directory = join(root, 'lying')
    makeRelease(directory, { files: { 'p.sh': SCRIPTS.echo }, command: ['sh', 'p.sh'] })
    const PATH = programsWithout(['sha256sum'])
    await withBox({ env: { PATH } }, {}, async (connect) => (await connect()).install(never))
    writeFileSync(join(directory, 'p.sh'), SCRIPTS.flood)
    const flavours = [{ directory, machine: 'any', carriesNode: false }]
    for (const env of [{ PATH }, {}])
      await withBox({ env }, { flavours }, async (connect) => {
        expect((await faultOf((await connect()).install(never))).detail.code).toBe('PROVER_HASH_MISMATCH')
      })
  })

  test('a box without Node gets the release that carries one, or a fault that says what is missing', async () => {
    const own = makeRelease(join(root, 'own'), {
      files: { 'bin/node': '#!/bin/sh\necho carried "$@"\n', 'p.js': '' },
      command: ['bin/node', 'p.js'],
    })
    const plain = makeRelease(join(root, 'plain'), { files: { 'p.sh': 'echo plain\n' }, command: ['sh', 'p.sh'] })
    const flavours = [
      { directory: plain, machine: 'any', carriesNode: false },
      { directory: own, machine: 'any', carriesNode: true },
    ]
    const said = async (env: Record<string, string>): Promise<string> => {
      let text = ''
      await withBox({ env }, { flavours }, async (connect) => {
        const box = await connect()
        text = (await readAll((await box.start(never)).output)).toString()
      })
      return text
    }
    expect(await said({})).toBe('plain\n')
    expect(await said({ PATH: programsWithout(['node']) })).toBe('carried p.js\n')
    expect(await said({ PATH: programsWithout([], { node: '#!/bin/sh\necho v18.20.1\n' }) })).toBe('carried p.js\n')
    // Attack 367.
    const uname = '#!/bin/sh\necho "x86: AS CLAIMED   8 x H100"\n'
    const PATH = programsWithout(['node'], { uname })
    await withBox({ env: { PATH } }, { flavours: [flavours[0]!] }, async (connect) => {
      const { detail } = await faultOf((await connect()).install(never))
      expect(detail).toMatchObject({ code: 'NO_PROVER_FOR_BOX', machine: '"x86: AS CLAIMED 8 x H100"' })
    })
  })
})
