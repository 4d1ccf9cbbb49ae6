import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { decodePng, encodePng } from '../../src/drivers/picture/png.ts'
import { otherInput } from '../../src/main/work/results/givenInputs.ts'
import { ownFiles } from '../../src/main/work/results/ownFiles.ts'
import { simulationResult } from '../../src/main/work/results/pictureResults.ts'
import { changeByte } from '../support/changeByte.ts'
import { openHome } from '../support/commandLine.ts'
import { givenResult } from '../support/givenResult.ts'

const { folder, inFolder, touchstone } = openHome()

test('touchstone work run simulate delivers the field and pictures of it, and a receipt', async () => {
  const small = [
    '--size',
    '16x12x4',
    '--steps',
    '24',
    '--obstacle',
    'sphere:6,6,2,2',
    '--obstacle',
    'box:12,0,0,13,2,3',
  ]
  const out = ['--out', inFolder('field.npy'), '--receipt', inFolder('flow.json')]
  const files = [...out, '--pictures', inFolder('flow'), '--inputs', inFolder('stream')]
  const { status } = await touchstone('work', 'run', 'simulate', ...small, ...files, '--frames', '3', '--walls')
  expect(status).toBe(0)
  const field = readFileSync(inFolder('field.npy'))
  expect(field.toString('latin1')).toContain("'descr': '<f4', 'fortran_order': False, 'shape': (4, 4, 12, 16)")
  const values = new Float32Array(Uint8Array.from(field.subarray(128)).buffer)
  const density = (x: number, y: number, z: number) => values[(z * 12 + y) * 16 + x]!
  expect([density(6, 6, 2), density(12, 2, 0), density(3, 0, 1), density(3, 11, 1)]).toEqual([0, 0, 0, 0])
  expect(density(1, 6, 2)).toBeCloseTo(1, 0)
  expect(readdirSync(inFolder('flow')).length).toBeGreaterThanOrEqual(2)
  const check = (...more: string[]) => touchstone('check', inFolder('flow.json'), '--result', ...more)
  const stream = ['--inputs', inFolder('stream')]
  const cells = ['--given', join(inFolder('stream'), 'cells.bin')]
  // Attack 448.
  expect((await check(inFolder('field.npy'), ...stream, ...cells)).status).toBe(4)
  expect((await check(inFolder('field.npy'), '--replay', inFolder('stream'), ...cells)).status).toBe(0)
  const given = await givenResult(inFolder('flow.json'), inFolder('field.npy'))
  const rule = (path: string) => simulationResult(path).problem({ ...given, path })
  for (const path of [given.path, inFolder('flow')])
    expect(() => rule(path)).toThrow('cannot be held against the receipt')
  expect(await otherInput(given.work, [join(inFolder('stream'), 'result.populations.bin')])).toBe('cells')
  expect((await check(inFolder('flow'), '--replay', inFolder('stream'), ...cells)).status).toBe(0)
  const kept = join(inFolder('stream'), 'result.populations.bin')
  const states = () => new Map([['populations', readFileSync(kept)]])
  const last = join(inFolder('flow'), readdirSync(inFolder('flow')).sort().at(-1)!)
  const held = (path: string) => simulationResult(path).problem({ ...given, path, states })
  expect([held(last), held(given.path)]).toEqual([null, null])
  // Attack 342: whatever else lies in the folder of a film is shown with it.
  const film = inFolder('film')
  const names = readdirSync(inFolder('flow'))
  const filmOf = (kept: readonly string[], more: string | null) => {
    rmSync(film, { recursive: true, force: true })
    mkdirSync(film)
    for (const name of kept) copyFileSync(join(inFolder('flow'), name), join(film, name))
    if (more !== null) mkdirSync(join(film, more))
    return () => held(film)
  }
  for (const more of ['flow-000001.PNG', 'film.mp4', 'flow', 'flow-1.png', 'xflow-000001.png', '.hidden'])
    expect(filmOf(names, more)).toThrow(`the folder holds "${more}", which is no picture of a flow`)
  expect(filmOf(names.toSpliced(1, 1), null)).toThrow(/the film lacks flow-\d{6}\.png/)
  expect(filmOf(names.slice(0, -1), null)).toThrow(/the film lacks flow-\d{6}\.png/)
  expect(filmOf([], null)).toThrow('the folder holds no picture')
  expect(filmOf(names.slice(-1), null)()).toBeNull()
  writeFileSync(last, encodePng({ width: 16, height: 12, rgb: new Uint8Array(576) }))
  changeByte(given.path, -9)
  expect(held(last)).toMatch(/^flow-\d+\.png: from pixel \d+, \d+ on, \d+ values are others$/)
  expect(held(given.path)).toBe('density or velocity are others')
  changeByte(kept, -9)
  expect((await check(given.path, ...stream)).status).toBe(2)
  for (const [option, value] of [
    ['--size', '10'],
    ['--obstacle', 'sphere:1,2'],
  ] as const)
    expect((await touchstone('work', 'run', 'simulate', option, value, ...files)).status).toBe(2)
})

describe('touchstone work run render', () => {
  const room = fileURLToPath(new URL('../../examples/room.glb', import.meta.url))
  const files = ['--out', inFolder('room.png'), '--receipt', inFolder('room.json'), '--inputs', inFolder('scene')]
  const check = (...more: string[]) => touchstone('check', inFolder('room.json'), '--json', ...more)

  test('delivers a picture, and a receipt for whoever has the scene', async () => {
    const small = ['--width', '24', '--height', '16', '--samples', '1']
    expect((await touchstone('work', 'run', 'render', room, ...small, ...files)).status).toBe(0)
    const picture = readFileSync(inFolder('room.png'))
    expect([picture.toString('latin1', 1, 4), picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([
      'PNG',
      24,
      16,
    ])
    expect(readdirSync(folder).filter((name) => name.includes('growing'))).toEqual([])
    const scene = ['--inputs', inFolder('scene'), '--given', room]
    // Attack 448: a few tiles of another picture are seldom drawn.
    expect((await check(...scene, '--result', inFolder('room.png'))).status).toBe(4)
    const replay = ['--replay', inFolder('scene'), '--given', room]
    const shown = await check(...replay, '--result', inFolder('room.png'))
    expect(shown.status).toBe(0)
    expect(JSON.parse(shown.stdout)).toMatchObject({ verdict: 'genuine', resultTied: true, work: { patches: 128 } })
    const { rgb, ...sides } = decodePng(picture)
    const other = rgb.map((value, i) => (i === 300 ? value ^ 1 : value))
    writeFileSync(inFolder('other.png'), encodePng({ ...sides, rgb: other }))
    const altered = await check(...scene, '--result', inFolder('other.png'))
    expect([altered.status, JSON.parse(altered.stdout).problem.where]).toEqual([
      1,
      'from pixel 4, 4 on, 1 values are others',
    ])
    const { work } = await givenResult(inFolder('room.json'), room)
    const glb = readFileSync(room)
    // A number of the first corner, behind the chunk of JSON.
    glb[30 + glb.readUInt32LE(12)]! ^= 1
    writeFileSync(inFolder('other.glb'), glb)
    expect([await otherInput(work, [room]), await otherInput(work, [inFolder('other.glb')])]).toEqual([
      null,
      expect.any(String),
    ])
    expect(ownFiles({}).lacking(work)).toBe('add --given SCENE.glb')
    const blind = await check()
    expect(blind.status).toBe(4)
    expect(JSON.parse(blind.stdout)).toMatchObject({ doubts: [{ code: 'INPUTS_NEEDED' }], work: { credited: 0 } })
  })

  test('refuses what is no scene, and sizes that it cannot do, before anything is made', async () => {
    writeFileSync(inFolder('none.glb'), 'glTF')
    for (const [scene, more, why] of [
      [inFolder('none.glb'), [], 'no glTF file'],
      [room, ['--width', '30'], 'multiples of 8'],
      [room, ['--samples', '4096', '--width', '16384'], 'too much'],
    ] as const) {
      const end = await touchstone('work', 'run', 'render', scene, ...files, ...more)
      expect(end.status).toBe(2)
      expect(end.stderr.replace(/\s+/g, ' ')).toContain(why)
    }
  })
})
