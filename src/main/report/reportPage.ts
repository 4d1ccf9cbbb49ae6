import { basename } from 'node:path'
import { takeApart } from '../../core/certificate/envelope.ts'
import { toInstant } from '../../core/units/instants.ts'
import type { ShownCheck } from '../check/checkAnswer.ts'
import { checkView } from './checkView.ts'
import { element } from './html.ts'
import { selfContainedPage } from './page.ts'

/** Beyond this a page is no longer something to send; the certificate then travels beside it. */
const MOST_CARRIED_BYTES = 16 * 2 ** 20

export interface Reported {
  readonly shown: ShownCheck
  /** The certificate's bytes, or null where there is none to send along. */
  readonly certificate: Uint8Array | null
  readonly program: string
  readonly style: string
}

/** What a check found, and the file it was found in. */
export function reportPage({ shown, certificate, program, style }: Reported): string {
  const name = basename(shown.file)
  const content = [
    ...checkView(shown),
    ...attached(certificate, name, shown.checked.problem !== null),
    madeBy(program, shown.nowMs),
  ]
  return selfContainedPage(`Touchstone: ${name}`, style, ...content)
}

function attached(certificate: Uint8Array | null, name: string, isRefused: boolean) {
  if (certificate === null || certificate.length > MOST_CARRIED_BYTES) return []
  // Behind the line of a receipt are bytes.
  const type = takeApart(certificate).evidence.length > 0 ? 'application/octet-stream' : 'application/json'
  const href = `data:${type};base64,${Buffer.from(certificate).toString('base64')}`
  const link = element('a', { download: name, href }, 'The file itself')
  return [element('p', {}, link, isRefused ? ', which was refused: rely on nothing in it.' : '')]
}

const madeBy = (program: string, nowMs: number) =>
  element(
    'footer',
    {},
    `Checked by ${program} on ${toInstant(nowMs)}. This page is one reader's account and proves nothing by itself: check the file.`,
  )
