import * as z from 'zod'
import type { Judgement } from '../certificate/judgeRun.ts'

/** One proven or inferred number of one device; device -1 is the whole box. */
export const namedFigure = z.object({ device: z.int(), name: z.string(), value: z.number() })
type NamedFigure = Readonly<z.infer<typeof namedFigure>>

/** Every figure of a judgement by name, for the rows of a store. */
export function namedFigures({ devices, scaling, count }: Judgement): NamedFigure[] {
  const box: NamedFigure[] = [
    { device: -1, name: 'devices.claimed', value: count.claimed },
    { device: -1, name: 'devices.least', value: count.least },
    ...(scaling === null ? [] : [{ device: -1, name: 'scaling.permille', value: scaling }]),
  ]
  return [...box, ...devices.flatMap((device) => figuresOfDevice(device))]
}

function figuresOfDevice(judged: Judgement['devices'][number]): NamedFigure[] {
  const { device, rates, sustained, memory, identity } = judged
  const values: [string, number | null | undefined][] = [
    ...Object.entries(rates).map(([name, value]): [string, number] => [`rate.${name}.per_second`, value]),
    [`sustained.${sustained?.precision}.per_second`, sustained?.perSecond],
    ['memory.held.bytes', memory?.heldBytes],
    ['memory.floor.bytes', memory?.floorBytes],
    ['memory.bytes_per_second', memory?.perSecond],
    ['bind.per_second', judged.bindPerSecond],
    ['bind.permille', judged.bindShare],
    ['alone.per_second', judged.alonePerSecond],
    ['link.bytes_per_second', judged.linkPerSecond],
    ['identity.confidence.percent', identity.model === null ? null : identity.confidencePercent],
  ]
  return values.flatMap(([name, value]) => (value === null || value === undefined ? [] : [{ device, name, value }]))
}
