import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { toInstant } from '../../core/units/instants.ts'
import type { ShownCheck } from '../check/checkAnswer.ts'
import { checkView } from './checkView.ts'
import { element, toHtml } from './html.ts'

/** Beyond this a page is no longer something to send; the certificate then travels beside it. */
const MOST_CARRIED_BYTES = 16 * 2 ** 20

export interface Reported {
  readonly shown: ShownCheck
  /** The certificate's bytes, or null where there is none to send along. */
  readonly certificate: Uint8Array | null
  readonly program: string
  readonly style: string
}

/** One page that asks nothing of any server and runs nothing: what a check found, and the file it was found in. */
export function reportPage({ shown, certificate, program, style }: Reported): string {
  const name = basename(shown.file)
  const hash = createHash('sha256').update(style).digest('base64')
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`
  const page = element(
    'html',
    { lang: 'en' },
    element(
      'head',
      {},
      element('meta', { charset: 'utf-8' }),
      element('meta', { 'http-equiv': 'content-security-policy', content: policy }),
      element('meta', { name: 'viewport', content: 'width=device-width' }),
      element('meta', { name: 'referrer', content: 'no-referrer' }),
      element('title', {}, `Touchstone: ${name}`),
    ),
    element(
      'body',
      {},
      element('main', {}, ...checkView(shown), ...attached(certificate, name), madeBy(program, shown.nowMs)),
    ),
  )
  // The style is ours and fixed: escaped it would no longer be one.
  return `<!doctype html>\n${toHtml(page).replace('</head>', () => `<style>${style}</style></head>`)}\n`
}

function attached(certificate: Uint8Array | null, name: string) {
  if (certificate === null || certificate.length > MOST_CARRIED_BYTES) return []
  const href = `data:application/json;base64,${Buffer.from(certificate).toString('base64')}`
  return [element('p', {}, element('a', { download: name, href }, 'The file itself'))]
}

const madeBy = (program: string, nowMs: number) =>
  element(
    'footer',
    {},
    `Checked by ${program} on ${toInstant(nowMs)}. This page is one reader's account and proves nothing by itself: check the file.`,
  )
