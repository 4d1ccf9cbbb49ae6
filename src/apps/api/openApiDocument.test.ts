import { expect, test } from 'vitest'
import { storelessApi } from '../../../test/support/storelessApi.ts'
import { routes } from './routes.ts'

test('the OpenAPI document has every operation that is served, each with a summary', async () => {
  const api = storelessApi({ backup: async () => ({ file: 'x', rows: 0 }) })
  const document = (await (await api.request('/openapi.json')).json()) as {
    openapi: string
    paths: Record<string, Record<string, { summary?: string; responses: object }>>
  }
  expect(document.openapi).toBe('3.1.0')
  const served = api.routes.filter(({ method, path }) => method !== 'ALL' && path !== '/openapi.json')
  const named = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path}`),
  )
  expect(named.sort()).toEqual(
    [
      ...new Set(served.map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)[^/]*/g, '{$1}')}`)),
    ].sort(),
  )
  expect(named).toEqual(expect.arrayContaining(['get /health', 'get /metrics', 'get /v1/live', 'post /v1/backup']))
  for (const operation of Object.values(document.paths).flatMap((operations) => Object.values(operations)))
    expect(operation.summary).toMatch(/^[A-Z].{4,79}[^.]$/)
})

test('in the document each operation has its id, a tag, and a problem for every way to be refused', async () => {
  const api = storelessApi({ backup: async () => ({ file: 'x', rows: 0 }) })
  type Operation = { operationId: string; tags: string[]; security?: object; responses: Record<string, never> }
  const { paths, tags, servers } = (await (await api.request('/openapi.json')).json()) as {
    paths: Record<string, Record<string, Operation>>
    tags: { name: string }[]
    servers: { url: string }[]
  }
  expect(servers).toMatchObject([{ url: '/' }])
  const all = Object.values(paths).flatMap((operations) => Object.entries(operations))
  expect(all.map(([, { operationId }]) => operationId).sort()).toEqual(Object.keys(routes).sort())
  const names = tags.map(({ name }) => name)
  const ref = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } } }
  for (const [method, { operationId, tags: own, security, responses }] of all) {
    expect(names).toContain(own[0])
    const refusals = Object.entries(responses).filter(([status]) => status !== '200')
    for (const [status, response] of refusals)
      if (!(operationId === 'getHealth' && status === '503')) expect(response).toMatchObject(ref)
    const least = method === 'get' ? ['429', '500', '503'] : ['401', '413', '429', '500', '503']
    expect(refusals.map(([status]) => status)).toEqual(expect.arrayContaining(least))
    expect(security !== undefined).toBe(method !== 'get')
  }
})
