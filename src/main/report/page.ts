import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { element, type Html, toHtml } from './html.ts'

/** The style of the page that checks, so that all pages look alike. */
const STYLE = new URL('../../../dist/web/check/style.css', import.meta.url)

export const pageStyle = (): string => readFileSync(STYLE, 'utf8')

/** One page that asks nothing of any server and runs nothing. */
export function selfContainedPage(title: string, style: string, ...content: readonly Html[]): string {
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
      element('title', {}, title),
    ),
    element('body', {}, element('main', {}, ...content)),
  )
  // The style is ours and fixed: escaped it would no longer be one.
  return `<!doctype html>\n${toHtml(page).replace('</head>', () => `<style>${style}</style></head>`)}\n`
}
