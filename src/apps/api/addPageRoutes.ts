import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import type { ApiDeps } from './apiDeps.ts'

/** A file of a page, ready to send. */
export interface PageFile {
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
}

/** The page runs only what came with it, and talks to nobody. */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

/** The page that says what answers here, and the one that checks a certificate in its reader's own tab. */
export function addPageRoutes(app: OpenAPIHono, { pages }: Pick<ApiDeps, 'pages'>, limit: MiddlewareHandler): void {
  if (pages === undefined) return
  for (const path of ['/', '/check/*']) app.use(path, limit)
  const send = (c: Context, name: string) => {
    const found = pages.get(name)
    return found ? c.body(found.body, 200, { ...HEADERS, 'content-type': found.type }) : c.notFound()
  }
  app.get('/', (c) => send(c, 'home.html'))
  app.get('/check', (c) => c.redirect('./check/', 301))
  app.get('/check/', (c) => send(c, 'index.html'))
  app.get('/check/:name', (c) => send(c, c.req.param('name')))
}
