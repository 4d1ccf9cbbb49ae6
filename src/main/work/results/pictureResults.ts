import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { boxWords } from '../../../core/bytes/boxWords.ts'
import { equalBytes } from '../../../core/bytes/bytes.ts'
import { Canvas } from '../../../core/work/kinds/rendering/canvas.ts'
import { type PictureParameters, rendering } from '../../../core/work/kinds/rendering/rendering.ts'
import { type FlowParameters, simulation } from '../../../core/work/kinds/simulation/simulation.ts'
import type { RgbPicture } from '../../../core/work/kinds/simulation/slice.ts'
import { decodePng } from '../../../drivers/picture/png.ts'
import { fault } from '../../faults.ts'
import { readInput } from '../readInput.ts'
import { encodeField, pictureName, pictureOf } from './flowFiles.ts'
import type { GivenResult, ResultRule } from './resultRule.ts'

const STATES_NEEDED = {
  why: 'the file does not hold the state that it was made of',
  how: 'Add --inputs FOLDER as "work run --inputs" wrote it, or --replay FOLDER.',
}

/** Pixel by pixel; what is committed is the light that they were made of. */
export const renderingResult: ResultRule = {
  problem({ path, work, states }) {
    const picture = decodePng(readInput(path))
    const light = states()?.get('picture')
    if (!light) throw fault('RESULT_NOT_TIED', STATES_NEEDED)
    const canvas = new Canvas(rendering.parameters.parse(work.spec.parameters) as PictureParameters)
    const rows = work.ends.length
    for (let row = 0; row < rows; row++)
      canvas.put(row, light.subarray((row * light.length) / rows, ((row + 1) * light.length) / rows))
    return differenceOf(picture, canvas)
  },
}

function differenceOf(picture: RgbPicture, made: RgbPicture): string | null {
  const { width, height } = made
  if (picture.width !== width || picture.height !== height)
    return `it is ${picture.width} x ${picture.height} where ${width} x ${height} belongs`
  const others = made.rgb.filter((byte, i) => byte !== picture.rgb[i]).length
  const first = made.rgb.findIndex((byte, i) => byte !== picture.rgb[i])
  const pixel = Math.floor(first / 3)
  return others === 0
    ? null
    : `from pixel ${pixel % width}, ${Math.floor(pixel / width)} on, ${others} values are others`
}

const flowOf = ({ work }: Pick<GivenResult, 'work'>): FlowParameters =>
  simulation.parameters.parse(work.spec.parameters) as FlowParameters

/** The field at the end, one picture of the film, or the folder of all of them. */
export function simulationResult(path: string): ResultRule {
  const pictures = picturesAt(path)
  const seen = new Map<string, RgbPicture>()
  let isReplayed = false
  return {
    see(work, segment, read) {
      isReplayed = true
      const name = pictureName(segment)
      if (!pictures?.has(name)) return
      seen.set(name, pictureOf(flowOf({ work }), new Map([['populations', read('populations')]])))
    },
    problem(given) {
      if (pictures === null) return fieldProblem(given)
      if (isFolder(path)) ensureWhole([...pictures.keys()], given.work.ends.length)
      const last = given.states()
      if (last) seen.set(pictureName(given.work.ends.length - 1), pictureOf(flowOf(given), last))
      for (const [name, file] of pictures) {
        const made = seen.get(name)
        if (!made && !isReplayed) throw fault('RESULT_NOT_TIED', { ...ROOT_ALONE, why: `${name}: ${ROOT_ALONE.why}` })
        const problem = made ? differenceOf(decodePng(readInput(file)), made) : 'no committed state has this name'
        if (problem) return `${name}: ${problem}`
      }
      return null
    },
  }
}

const ROOT_ALONE = {
  why: 'of the state that it shows nothing but the root is at hand',
  how: 'Add --replay FOLDER: pictures on the way are made again.',
}

function fieldProblem(given: GivenResult): string | null {
  const file = readInput(given.path)
  const last = given.states()
  if (!last) throw fault('RESULT_NOT_TIED', STATES_NEEDED)
  return equalBytes(file, encodeField(flowOf(given), last)) ? null : 'density or velocity are others'
}

const PICTURE = /^flow-(\d{6,})\.png$/

/** Files by their names; null where the path is no picture and no folder of them. */
function picturesAt(path: string): ReadonlyMap<string, string> | null {
  if (!isFolder(path)) return path.endsWith('.png') ? new Map([[basename(path), path]]) : null
  const names = readdirSync(path).sort()
  const other = names.find((name) => !PICTURE.test(name))
  if (other !== undefined) throw noFilm(`the folder holds ${boxWords(other)}, which is no picture of a flow`)
  if (names.length === 0) throw noFilm('the folder holds no picture')
  return new Map(names.map((name) => [name, join(path, name)]))
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const noFilm = (why: string) =>
  fault('RESULT_NOT_TIED', { why, how: 'Name a folder with the pictures alone, as "work run" wrote them.' })

/** A film has every so many states, and the last: what was cut out of it is not seen in what is left. */
function ensureWhole(names: readonly string[], states: number): void {
  const every = Math.min(...names.map((name) => Number(PICTURE.exec(name)![1])))
  const lacking = Array.from({ length: states }, (_, segment) => segment)
    .filter((segment) => segment + 1 === states || (segment + 1) % every === 0)
    .find((segment) => !names.includes(pictureName(segment)))
  if (lacking !== undefined) throw noFilm(`the film lacks ${pictureName(lacking)}`)
}
