import { Buffer } from 'node:buffer'
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createWritable, openReadable } from './fileAccess.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-files-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a file read piece by piece', () => {
  test('gives the bytes asked for', async () => {
    writeFileSync(join(folder, 'text'), 'abcdefgh')
    const file = await openReadable(join(folder, 'text'))
    expect(file.length).toBe(8)
    expect(Buffer.from(await file.read(2, 3)).toString()).toBe('cde')
    truncateSync(join(folder, 'text'), 4)
    await expect(file.read(2, 3)).rejects.toMatchObject({ detail: { code: 'NOT_READABLE' } })
    await file.close()
  })

  test('behavior: a file that is not there is refused', async () => {
    await expect(openReadable(join(folder, 'none'))).rejects.toMatchObject({ detail: { code: 'NOT_READABLE' } })
  })
})

describe('a file written front to back', () => {
  test('is there whole after commit', async () => {
    const file = await createWritable(join(folder, 'deep/out'))
    await file.append(Buffer.from('one '))
    await file.append(Buffer.from('two'))
    expect(readdirSync(join(folder, 'deep'))).not.toContain('out')
    await file.commit()
    await file.close()
    expect(readFileSync(join(folder, 'deep/out'), 'utf8')).toBe('one two')
  })

  test('behavior: closed without commit, nothing is left', async () => {
    const file = await createWritable(join(folder, 'gone/out'))
    await file.append(Buffer.from('x'))
    await file.close()
    expect(readdirSync(join(folder, 'gone'))).toEqual([])
  })
})
