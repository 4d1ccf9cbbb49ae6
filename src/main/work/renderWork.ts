import type { TensorHasher } from '../../core/work/engineRun.ts'
import { type Scene, sceneTensors } from '../../core/work/kinds/rendering/scene.ts'
import { bitsOf } from '../../core/work/ops/shapes.ts'
import { WORK_REFUSALS, WorkRefusal } from '../../core/work/refusals.ts'
import { readGltf } from '../../drivers/scene/readGltf.ts'
import { fault } from '../faults.ts'
import { reader } from '../parseOptions.ts'
import { readInput } from './readInput.ts'
import { type PreparedWork, prepareWork } from './workOrder.ts'

export interface RenderFlags {
  readonly width: number
  readonly height: number
  readonly samples: number
  readonly bounces: number
  readonly zenith: Light
  readonly horizon: Light
}

type Light = readonly [red: number, green: number, blue: number]

const TILE = 8
/** Rays that start this far off a surface do not hit it again, as a share of the scene's size. */
const OFF_SURFACE = 1e-5
/** 0.5,0.7,1: red, green and blue. */
export const readLight = reader('Use red, green and blue as 0.5,0.7,1, each at most 1000000.', (text): Light | null => {
  const parts = /^\d+(\.\d+)?(,\d+(\.\d+)?){2}$/.test(text) ? text.split(',').map(Number) : []
  return parts.length === 3 && parts.every((part) => part <= 1e6) ? (parts as unknown as Light) : null
})

/** A picture of a scene. */
export function renderWork(scene: Scene, flags: RenderFlags, hasher: TensorHasher): PreparedWork {
  const { width, height, samples, bounces, zenith, horizon } = flags
  if (width % TILE !== 0 || height % TILE !== 0)
    throw fault('BAD_WORK_INPUT', { why: `--width and --height must be multiples of ${TILE}` })
  const { given, epsilon } = sceneGiven(scene, flags)
  const parameters = {
    ...{ width, height, samples, bounces },
    ...{ triangles: scene.triangles.length, materials: scene.materials.length },
    ...{ epsilon, zenith: zenith.map(bitsOf), horizon: horizon.map(bitsOf) },
  }
  return prepareWork({ kind: 'rendering', parameters, transitions: height / TILE, interval: 1 }, given, hasher)
}

/** What follows from a scene for a picture of this size. */
export const sceneGiven = (scene: Scene, size: Pick<RenderFlags, 'width' | 'height'>) => ({
  ...{ given: sceneTensors(scene, size), epsilon: bitsOf(offSurface(scene)) },
})

function offSurface({ triangles }: Scene): number {
  let most = 0
  for (const { corners } of triangles) for (const corner of corners) most = Math.max(most, ...corner.map(Math.abs))
  return Math.min(Math.max(OFF_SURFACE * most, 1e-6), 0.5)
}

export async function sceneIn(name: string): Promise<Scene> {
  try {
    return await readGltf(readInput(name))
  } catch (error) {
    if (!(error instanceof WorkRefusal)) throw error
    throw fault('BAD_WORK_INPUT', { why: `${WORK_REFUSALS[error.code].meaning} (${error.message})` })
  }
}
