import type { BoxReport } from '../../apps/validator/verifyBox.ts'
import { boxWords, faultWords } from '../../core/bytes/boxWords.ts'
import type { Judgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import type { PresetName } from '../../core/params/presets.ts'
import { groupedReasons } from './answer.ts'
import { cardState } from './cardState.ts'
import { cardTable } from './cardTable.ts'
import { deviceLines, identityText } from './deviceLines.ts'
import { labelled } from './labelled.ts'
import { linkText } from './linkText.ts'
import type { Colours } from './terminal.ts'

/** What a verdict is shown from, in a report and in a certificate. */
export interface ShownVerdict extends Pick<BoxReport, 'judgement' | 'telemetry' | 'faults'> {
  readonly preset: PresetName
  readonly inventory: Inventory
}

interface How {
  readonly catalogue: Catalogue
  readonly colours: Colours
  /** All there is of every card, not one row each. */
  readonly isVerbose: boolean
}

/** What a verdict rests on: what is proven, what is inferred, what is only claimed, and what none of it excludes. */
export function verdictLines(shown: ShownVerdict, how: How): string[] {
  const { judgement, preset } = shown
  const { catalogue, colours, isVerbose } = how
  const { devices, claim, reason } = judgement
  const insecure = preset === 'mainnet' ? [] : insecureLines(preset, claim !== null)
  const top = [
    ...insecure.map((text) => colours.yellow(`  ${text}`)),
    ...failedDevices(shown).flatMap((text) => labelled('failed', text).map(colours.yellow)),
  ]
  // A figure of a rejected run is no finding, whatever it would have shown (attack 377).
  if (reason !== null) return top
  return [
    ...top,
    ...(devices.length === 0 ? [] : ['', ...cardTable(devices, claim?.text ?? null, catalogue, colours), '']),
    ...foundLines(judgement, catalogue, isVerbose),
    ...stateLines(shown),
    ...togetherLines(judgement),
    ...(isVerbose ? [...claimLines(judgement), ...allOfDevices(shown, how), ''] : []),
    ...(isVerbose ? NOT_EXCLUDED : BRIEFLY_NOT_EXCLUDED).map((text) => colours.dim(`  ${text}`)),
  ]
}

/** Which card each is. */
const foundLines = ({ devices }: Judgement, catalogue: Catalogue, isVerbose: boolean): string[] =>
  grouped('found', devices, (device) => identityText(device, catalogue, isVerbose))

/** What the driver says of how each card is set up. */
const stateLines = ({ judgement: { devices }, inventory }: ShownVerdict): string[] =>
  grouped('set up', devices, ({ device }) => cardState(inventory.devices[device]?.details ?? {}))

type Devices = Judgement['devices']

/** What is said of each card, once for all that are alike. */
function grouped(label: string, devices: Devices, textOf: (device: Devices[number]) => string | null): string[] {
  const texts = devices.map(textOf)
  return [...new Set(texts)].flatMap((text) => {
    const cards = devices.filter((_, i) => texts[i] === text).map(({ device }) => device)
    const which = cards.length === devices.length ? '' : `${cards.length > 1 ? 'cards' : 'card'} ${cards.join(', ')}: `
    return labelled(label, text && `${which}${text}`)
  })
}

function togetherLines({ devices, scaling, count }: Judgement): string[] {
  if (devices.length < 2) return []
  const links = devices.flatMap(({ linkPerSecond }) => (linkPerSecond === null ? [] : [linkPerSecond]))
  return [
    ...labelled('together', `${(scaling ?? 0) / 10} % of the speed alone; ${count.sentence}`),
    ...labelled('card to card', links.length === 0 ? null : linkText(Math.min(...links))),
  ]
}

function claimLines({ claim, devices }: Judgement): string[] {
  if (!claim) return []
  const [first = '', ...rest] = groupedReasons(claim, devices.length)
  return [
    ...labelled('claim', `${boxWords(claim.text)}: ${claim.verdict}`),
    ...labelled('because', first),
    ...rest.flatMap((reason) => labelled('', reason)),
  ]
}

const allOfDevices = (
  { judgement: { devices, claim }, inventory, telemetry }: ShownVerdict,
  { catalogue, colours }: How,
): string[] =>
  devices.flatMap((device) => {
    const said = inventory.devices[device.device]
    return deviceLines({ device, said, catalogue, claim: claim?.text ?? null, telemetry }, colours)
  })

type FailedDevices = Pick<ShownVerdict, 'faults'> & { readonly inventory: Pick<Inventory, 'host'> }

/** Devices the verdict is not about, in the words of the prover, which are said to be its own. */
export function failedDevices({ faults, inventory }: FailedDevices): string[] {
  const { gpuFaults } = inventory.host
  const closed = gpuFaults ? [String(gpuFaults)] : []
  return [
    ...faults.map((fault) => `as the box says: ${faultWords(fault)}`),
    ...closed.map(
      (text) =>
        `not opened, as the box says: ${boxWords(text)}; open such a card alone, with --devices, to see what to do`,
    ),
  ]
}

/** Its sizes suit no card: an honest one may miss its claim, and a cheat may meet it. */
export const insecureLines = (preset: PresetName, isClaimed: boolean): readonly string[] => [
  `preset ${preset} is insecure: use it for trials only; it identifies no card`,
  ...(isClaimed ? ['do not buy on what it says about a claim: use mainnet'] : []),
]

/** Lines of at most 80 columns. */
const BRIEFLY_NOT_EXCLUDED = [
  'Not excluded: work forwarded elsewhere, several cards posing as one, one as',
  'several, a card and its host as one with more memory, a card with slower',
  'memory by a clever order of reading, a CPU as a slow card.',
]
const NOT_EXCLUDED = [
  'Not excluded: work forwarded to another machine; several cards posing as one',
  '(joined by NVLink, or over PCIe: two with more than half of its memory each,',
  'three with two thirds, any number if one of them has it all and a quarter of',
  'the int8 speed); a card with less memory and a host that makes up for the rest;',
  'another card that computes as much and reads its memory half as fast; one large',
  'card posing as several small ones within the totals; a processor as fast as a',
  'slow card that says it is one.',
  'At least half of a memory rate is proven: it counts both tiles of every pair,',
  'and a clever order could read one of them from a cache.',
]
