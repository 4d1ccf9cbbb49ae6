import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { chanceFrom, sceneOf } from '../../../../../test/support/workTrials.ts'
import { toHex } from '../../../bytes/hex.ts'
import { sha256 } from '../../../bytes/sha256.ts'
import { checkReceipt } from '../../checkReceipt.ts'
import { drawOpened, drawTraced } from '../../drawWork.ts'
import { EngineRun } from '../../engineRun.ts'
import { passChance } from '../../guarantees.ts'
import { bitsOf, floatOf } from '../../ops/shapes.ts'
import { proveWork } from '../../proveWork.ts'
import { patchRunner } from '../../runPatch.ts'
import { linksOf } from '../../stateChain.ts'
import { holdGiven, openWork, segmentPrograms } from '../../work.ts'
import { type ExactEngine, engineOnOwned, hasherOn } from '../../workEngine.ts'
import { createWorkKernels, type WorkKernels } from '../../workKernels.ts'
import { EXACT_OPS } from '../../workOps.ts'
import { encodeSpec } from '../../workSpec.ts'
import { Canvas } from './canvas.ts'
import { rendering } from './rendering.ts'
import { type Scene, sceneTensors } from './scene.ts'

const wasm = readFileSync(new URL('../../../../../kernels/built/work.wasm', import.meta.url))
const engine = async () => engineOnOwned(await createWorkKernels(wasm))
const hasher = hasherOn(await engine())
const runner = patchRunner<WorkKernels>(await engine(), EXACT_OPS)
const size = { width: 64, height: 32 }
const white = [bitsOf(1), bitsOf(1), bitsOf(1)]

type Given = ReadonlyMap<string, Uint8Array>

const countIn = (given: Given, name: string, words: number) => given.get(name)!.length / 4 / words

function workOf(given: Given, samples = 2) {
  const sky = { zenith: white, horizon: white, epsilon: bitsOf(1e-3) }
  const counts = { triangles: countIn(given, 'triangles', 12), materials: countIn(given, 'materials', 8) }
  const parameters = { ...size, ...counts, samples, bounces: 4, ...sky }
  const shapes = rendering.given(rendering.parameters.parse(parameters))
  const inputs = [...shapes].map(([name, of]) => ({ name, uri: '', root: toHex(hasher.root(of, given.get(name)!)) }))
  const text = encodeSpec({ kind: 'rendering', version: 1, parameters, inputs, transitions: 4, interval: 1 })
  const order = { text, orderId: sha256(Uint8Array.of(1)), seed: sha256(Uint8Array.of(2)) }
  return openWork({ rendering }, EXACT_OPS, order)
}

const firstRoot = new Uint8Array(32)
const nonceOf = (from: number) => (draw: 0 | 1) => sha256(Uint8Array.of(from >> 8, from, draw))

/** Makes the picture; `through` may change what the kernels do. */
async function render(given: Given, samples = 2, through: (on: ExactEngine) => ExactEngine = (on) => on) {
  const work = workOf(given, samples)
  const run = new EngineRun<WorkKernels>(through(await engine()), work, given, hasher)
  const canvas = new Canvas(size)
  const light: Float32Array[] = []
  const marks = work.ends.map((_, segment) => {
    const mark = run.advance(segment)
    canvas.put(segment, run.read('picture'))
    light.push(new Float32Array(run.read('picture').buffer))
    return mark
  })
  return { work, run, marks, canvas, light: light.flatMap((row) => [...row]) }
}

type Rendered = Awaited<ReturnType<typeof render>>

async function receiptOf({ work, run, marks }: Rendered, nonce = 1) {
  const proof = await proveWork(work, { firstRoot, marks }, run, nonceOf(nonce))
  return { ...proof, workId: work.workId, firstRoot, marks }
}

const crowd = sceneOf(chanceFrom(3), 200)

/** A closed room of walls that scatter half of the light, and give as much as they take. */
function furnace(): Given {
  const corners = Array.from({ length: 8 }, (_, i) => [i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1] as const)
  const sides = [
    [0, 1, 3, 2],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 3, 7, 6],
    [0, 2, 6, 4],
    [1, 3, 7, 5],
  ] as const
  const triangles = sides.flatMap(([a, b, c, d]) =>
    [[a, b, c] as const, [a, c, d] as const].map((of) => ({
      corners: of.map((i) => corners[i]!) as unknown as Scene['triangles'][number]['corners'],
      material: 0,
    })),
  )
  const wall = { colour: [0.5, 0.5, 0.5], emission: [0.5, 0.5, 0.5], roughness: 0, sort: 'diffuse' } as const
  const camera = { eye: [0, 0, 0.5], target: [0, 0.1, -1], fieldOfView: 60 } as const
  return sceneTensors({ triangles, materials: [wall], camera }, size)
}

describe('a picture', () => {
  test('of a room whose walls give what they take is as bright as four bounces make it, everywhere', async () => {
    const { light, marks } = await render(furnace())
    // 0.5 + 0.25 + … after the first hit and four bounces; no ray finds a way out.
    for (const value of light) expect(value).toBe(1 - 0.5 ** 5)
    for (const { statistics } of marks) expect(floatOf(statistics[0]!)).toBe(64 * 8 * 2 * 5)
  })

  test('has the same bits whatever tree finds the nearest triangle', async () => {
    const { light } = await render(crowd)
    const triangles = crowd.get('triangles')!.length / 48
    const nodes = new Float32Array(crowd.get('nodes')!.slice().buffer)
    const leaves = Array.from({ length: 2 * triangles - 1 }, (_, at) => nodes.slice(8 * at, 8 * at + 8)).filter(
      (node) => node[7]! >= 0,
    )
    const on = await engine()
    const flat = new Float32Array(leaves.reverse().flatMap((node, at) => [...node.slice(0, 6), at + 1, node[7]!]))
    const content = [...crowd].map(([name, bytes]) => (name === 'nodes' ? new Uint8Array(flat.buffer) : bytes))
    let at = on.start
    const places = content.map((bytes) => {
      const place = at
      at += Math.ceil(bytes.length / 64) * 64
      on.reserve(at + 2 ** 16)
      on.view(place, bytes.length).set(bytes)
      return place
    }) as [number, number, number, number, number]
    const words = new DataView(sha256(Uint8Array.of(2)).buffer)
    const keys = [words.getUint32(0, true), words.getUint32(4, true)]
    const sky = [Math.fround(1e-3), 1, 1, 1, 1, 1, 1]
    const rest = [triangles, 5, triangles, 64, 1, 0, 8, 2, 4, ...sky, ...keys]
    expect(on.kernels.picture(...places, at, at + 8 * 768, ...rest)).toBe(0)
    const found = new Float32Array(on.view(at, 8 * 768).slice().buffer)
    expect([...found]).toEqual(light.slice(8 * 192, 16 * 192))
  })
})

describe('a receipt', () => {
  test('is believed by whoever has the scene; without it nothing is shown', async () => {
    const rendered = await render(crowd)
    const receipt = await receiptOf(rendered)
    const { problem, figures } = checkReceipt(holdGiven(rendered.work, crowd, hasher.root), receipt, runner)
    expect(problem).toBeNull()
    expect(figures).toMatchObject({ patches: 128, operations: 64 * 32 * 2 + 4 * 16 })
    expect(checkReceipt(rendered.work, receipt, runner).problem?.code).toBe('INPUT_NOT_HELD')
    expect(rendered.canvas.rgb.some((value) => value > 0)).toBe(true)
  })

  test('attack 182: of an empty sky shows that nothing was hit, and nothing is credited', async () => {
    const scene = new Map(crowd)
    scene.set(
      'camera',
      sceneTensors({ ...EMPTY, camera: { ...EMPTY.camera, target: [0, 0, 99] } }, size).get('camera')!,
    )
    const rendered = await render(scene)
    const held = holdGiven(rendered.work, scene, hasher.root)
    const { problem, figures } = checkReceipt(held, await receiptOf(rendered), runner)
    expect(problem).toBeNull()
    expect(figures).toMatchObject({ liveShare: 0, credited: 0 })
  })

  test('attack 206: of a sky with a thread in every tile is credited with nothing either', async () => {
    const threads = Array.from({ length: 8 }, (_, i) => {
      const x = (i - 3.5) * 0.289
      const corners = [[x, -2, -1] as const, [x + 0.04, -2, -1] as const, [x, 2, -1] as const] as const
      return { corners, material: 0 }
    })
    const grey = { colour: [0.5, 0.5, 0.5], emission: [0, 0, 0], roughness: 0, sort: 'diffuse' } as const
    const camera = { eye: [0, 0, 0], target: [0, 0, -1], fieldOfView: 60 } as const
    const scene = sceneTensors({ triangles: threads, materials: [grey], camera }, size)
    const rendered = await render(scene)
    const { problem, figures } = checkReceipt(
      holdGiven(rendered.work, scene, hasher.root),
      await receiptOf(rendered),
      runner,
    )
    const rays = rendered.marks.map(({ statistics }) => floatOf(statistics[0]!))
    // Something is hit in every row of tiles, and hardly anything bounces.
    for (const count of rays) expect([count > 64 * 8 * 2, count < 1.2 * 64 * 8 * 2]).toEqual([true, true])
    expect([problem, figures.credited]).toEqual([null, 0])
  })

  test('of tiles left out is believed as often as 128 draws miss them', async () => {
    /** Copies the tile before, in one tile of 32. */
    const lazy = (on: ExactEngine): ExactEngine => ({
      ...on,
      kernels: {
        ...on.kernels,
        picture(a, b, c, d, e, out, rays, ...numbers) {
          const answer = on.kernels.picture(a, b, c, d, e, out, rays, ...numbers)
          if (numbers[4] === 1) on.view(out + 3 * 768, 768).set(on.view(out + 2 * 768, 768))
          return answer
        },
      },
    })
    const rendered = await render(crowd, 1, lazy)
    const { work, marks } = rendered
    const lastLink = linksOf(work.workId, firstRoot, marks).at(-1)!
    const programsOf = (segment: number) => segmentPrograms(work, segment)
    const isMissed = (nonces: (draw: 0 | 1) => Uint8Array) => {
      const traced = drawTraced(work, lastLink, nonces(0)).map((segment) => ({
        segment,
        programs: programsOf(segment),
      }))
      const traces = traced.map(({ segment }) => sha256(Uint8Array.of(segment)))
      const drawn = drawOpened(work, { lastLink, nonce: nonces(1), traced, traces }).get(1)!
      return !drawn.some(({ step, patch }) => step === 0 && patch === 3)
    }
    const tries = 200
    const passed = Array.from({ length: tries }, (_, i) => isMissed(nonceOf(i))).filter(Boolean).length
    const expected = passChance.independent(64 / (64 * 32 + 4 * 16))
    expect(Math.abs(passed / tries - expected)).toBeLessThan(
      4 * Math.sqrt((expected * (1 - expected)) / tries) + 1 / tries,
    )
    const { problem } = checkReceipt(holdGiven(work, crowd, hasher.root), await receiptOf(rendered), runner)
    expect(problem).toMatchObject({ code: 'PATCH_WRONG', step: 'picture' })
  })
})

const EMPTY: Scene = {
  triangles: [
    {
      corners: [
        [0, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
      ],
      material: 0,
    },
  ],
  materials: [{ colour: [1, 1, 1], emission: [0, 0, 0], roughness: 0, sort: 'diffuse' }],
  camera: { eye: [0, 0, 50], target: [0, 0, 0], fieldOfView: 40 },
}

test.each([
  ['another tree', 'nodes', 28, 1],
  ['a number that is none', 'triangles', 0, Number.NaN],
  ['light without end', 'materials', 0, Number.POSITIVE_INFINITY],
  ['a material that there is not', 'kinds', 0, 1],
])('attack 183: a scene with %s is refused before anything is made', async (_, name, at, value) => {
  const bytes = crowd.get(name)!.slice()
  new DataView(bytes.buffer).setFloat32(at, value, true)
  const given = new Map(crowd).set(name, bytes)
  const made = await engine()
  expect(() => new EngineRun(made, workOf(given), given, hasher)).toThrowError(
    expect.objectContaining({ code: 'BAD_INPUT' }),
  )
})
