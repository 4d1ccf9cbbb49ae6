import { rmSync } from 'node:fs'
import { Canvas } from '../../core/work/kinds/rendering/canvas.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { encodePng } from '../../drivers/picture/png.ts'
import { writeAside } from '../../drivers/system/writeAside.ts'
import type { Tensors } from '../../ports/workDevice.ts'
import type { CommandContext } from '../run.ts'
import { joinStates } from './inputFiles.ts'
import { type RenderFlags, renderWork, sceneIn } from './renderWork.ts'
import { type RunFlags, runWork } from './runWork.ts'

/** The picture on disk is written at most so often. */
const PREVIEW_MS = 1000

/** A scene of glTF as a picture, which grows on disk beside where it will be. */
export async function runRendering(
  name: string,
  flags: RunFlags & RenderFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const scene = await sceneIn(name)
  const prepared = renderWork(scene, flags, hasherOn(await openExactEngine()))
  const canvas = new Canvas(flags)
  const states: Tensors[] = []
  const growing = flags.out.replace(/(\.[a-z]+)?$/i, '.growing$1')
  let writtenMs = -Infinity
  return await runWork(prepared, flags, context, signal, {
    every: 1,
    onState(row, state) {
      canvas.put(row, state.get('picture')!)
      states.push(state)
      if (performance.now() - writtenMs < PREVIEW_MS) return
      writeAside(growing, encodePng(canvas))
      writtenMs = performance.now()
    },
    result: () => encodePng(canvas),
    states: () => joinStates(states),
    read: [name],
    given: [name],
    tied: flags.inputs === undefined ? [] : ['--result', flags.out],
    end: () => rmSync(growing, { force: true }),
  })
}
