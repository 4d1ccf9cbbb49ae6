import { createHash } from 'node:crypto'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { kernelsSuite } from '../../../test/suites/kernelsSuite.ts'
import { nativeLibraries } from '../../../test/support/nativeLibraries.ts'
import { randomTiles, sameWords } from '../../../test/support/randomTiles.ts'
import { seededRandomness } from '../../../test/support/seededRandomness.ts'
import { testEngine } from '../../../test/support/testEngine.ts'
import { words32 } from '../../core/bytes/bytes.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { ENGINE_BYTES, engineOn } from '../../core/engine/engineOn.ts'
import { KEPT_TILE_BYTES } from '../../core/params/constants.ts'
import { PRECISION_NAMES } from '../../core/params/precision.ts'
import { fingerprintTile } from '../../core/proof/fingerprint.ts'
import { leafHash } from '../../core/proof/merkle.ts'
import { passPartner } from '../../core/proof/partners.ts'
import { referenceEngine } from '../../core/proof/referenceEngine.ts'
import { chooseKernels } from './chooseKernels.ts'
import { type FillPieces, loadNativeKernels, type NativeKernels } from './nativeKernels.ts'
import { KNOWN_LEAVES, KNOWN_TILE } from './requireKnownTiles.ts'

const libraries = await nativeLibraries()
const built = fileURLToPath(new URL('../../../kernels/built/', import.meta.url))

function openKernels(native: NativeKernels) {
  const memory = new Uint8Array(2 ** 22)
  const putEqualRows = (at: number, row: readonly number[]) =>
    new Float32Array(memory.buffer, at, 32 * row.length).set(row.flatMap((x) => Array<number>(32).fill(x)))
  return { kernels: native.on(memory), buffer: memory.buffer, free: 64, putEqualRows }
}

for (const { file, native } of libraries) {
  kernelsSuite(file, async () => openKernels(native), 0.25)
  kernelsSuite(
    `${file} without the SHA extensions`,
    async () => {
      // A copy, because what was found out about the processor is kept with the library.
      const folder = mkdtempSync(join(tmpdir(), 'touchstone-kernels-'))
      try {
        copyFileSync(join(built, file), join(folder, file))
        return openKernels(await loadNativeKernels(join(folder, file), { sha: false }))
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
    0.1,
  )

  test(`${file} passes over fills that lie in several pieces`, () => {
    const memory = new Uint8Array(2 ** 16)
    const kernels = native.on(memory)
    const { bytes } = seededRandomness(7)
    const fillOf = (tiles: number, tilesPerPiece: number) => ({
      tiles,
      tilesPerPiece,
      pieces: Array.from({ length: Math.ceil(tiles / tilesPerPiece) }, () => bytes(KEPT_TILE_BYTES * tilesPerPiece)),
    })
    const tileOf = ({ pieces, tilesPerPiece }: FillPieces, u: number) =>
      new Uint32Array(pieces[Math.floor(u / tilesPerPiece)]!.buffer, (u % tilesPerPiece) * KEPT_TILE_BYTES, 512)
    const [own, peer, z] = [fillOf(5, 2), fillOf(7, 4), bytes(32)]
    const at = { z: 0, masks: 4096, fingerprints: 8192 }
    memory.set(z, at.z)
    kernels.masks(words32(z)[2]!, 512, at.masks)
    const pair = kernels.passOver(own, peer, at)
    pair(0, 3)
    pair(3, 5)
    const made = Array.from({ length: 5 }, (_, u) => new BigUint64Array(memory.buffer, at.fingerprints + 16 * u, 2))
    const expected = Array.from({ length: 5 }, (_, u) =>
      fingerprintTile(tileOf(own, u), words32(z)[2]!, tileOf(peer, passPartner(u, z, peer.tiles))),
    )
    expect(made.map(([f0, f1]) => ({ f0, f1 }))).toEqual(expected)
  })

  test.each(PRECISION_NAMES)(`${file} and WebAssembly make the same 200 random tiles of %s`, async (precision) => {
    const memory = new Uint8Array(ENGINE_BYTES)
    const engine = engineOn(native.on(memory), memory.buffer, 0)
    const wasm = await testEngine()
    const differing = randomTiles(precision, 200, 1024).filter(
      (request) => !sameWords(engine.tile(request), wasm.tile(request)),
    )
    expect(differing).toEqual([])
  })
}

test('the known tiles are those of the reference', () => {
  const leafOf = (precision: (typeof PRECISION_NAMES)[number]) =>
    leafHash(0, fingerprintTile(referenceEngine.tile({ ...KNOWN_TILE, precision }), words32(KNOWN_TILE.seed)[3]!))
  expect(KNOWN_LEAVES).toEqual(
    Object.fromEntries(PRECISION_NAMES.map((precision) => [precision, toHex(leafOf(precision))])),
  )
})

describe.skipIf(libraries.length === 0)('chooseKernels', () => {
  const best = libraries.at(-1)?.file
  const folders: string[] = []
  let folder: string
  let said: string[]
  const choose = (engine?: string) =>
    chooseKernels({ folder, environment: { TOUCHSTONE_ENGINE: engine }, say: (line) => said.push(line) })
  const change = (file: string, content: Uint8Array) => writeFileSync(join(folder, file), content)
  const writeSums = () =>
    writeFileSync(
      join(folder, 'SHA256SUMS'),
      readdirSync(folder)
        .map(
          (name) =>
            `${createHash('sha256')
              .update(readFileSync(join(folder, name)))
              .digest('hex')}  ${name}\n`,
        )
        .join(''),
    )

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'touchstone-kernels-'))
    folders.push(folder)
    said = []
    for (const name of readdirSync(built).filter((name) => /\.so$|SUMS$/.test(name)))
      copyFileSync(join(built, name), join(folder, name))
  })
  afterAll(() => {
    for (const path of folders) rmSync(path, { recursive: true })
  })

  test('takes the best library that the processor runs, and says nothing', async () => {
    expect(await choose()).toMatchObject({ path: join(folder, best!) })
    expect(said).toEqual([])
  })

  test('takes WebAssembly, or one library, where TOUCHSTONE_ENGINE names it, and refuses other names', async () => {
    expect(await choose('wasm')).toBeNull()
    expect(await choose('avx2')).toMatchObject({ path: join(folder, 'native-avx2.so') })
    await expect(choose('fast')).rejects.toMatchObject({ detail: { code: 'ENGINE_UNKNOWN' } })
  })

  test.each([
    ['is missing', (file: string) => rmSync(join(folder, file)), /is missing/],
    ['is not the one we built', (file: string) => change(file, new Uint8Array(1000)), /checksum/],
    [
      'does not load',
      (file: string) => {
        change(file, new TextEncoder().encode('no library'))
        writeSums()
      },
      /.+/,
    ],
    [
      'computes a wrong tile',
      (file: string) => {
        const content = readFileSync(join(folder, file))
        // The first multiplier of Philox, wherever it stands.
        for (let at = content.indexOf('531f51d2', 0, 'hex'); at >= 0; at = content.indexOf('531f51d2', 0, 'hex'))
          content.writeUInt32LE(0xd2511f55, at)
        change(file, content)
        writeSums()
      },
      /tile of int8 is wrong/,
    ],
  ])('says in one line that a library %s, and goes on without it', async (_, damage, why) => {
    damage('native-avx2.so')
    expect(await choose('avx2')).toBeNull()
    expect(await choose('avx2')).toBeNull()
    expect(said).toHaveLength(1)
    expect(said[0]).toMatch(/^touchstone: native-avx2\.so is not used: [^\n]+$/)
    expect(said[0]).toMatch(why)
  })
})
