/**
 * Where a worker or child script really lies. Threads and processes run compiled code, so a source file under src/ stands
 * for its twin under dist/; compiled code already lies there. `name` is relative to `from` and ends in `.ts`.
 */
export function scriptUrl(name: string, from: string): URL {
  const url = new URL(name, from)
  const source = url.pathname.lastIndexOf('/src/')
  if (from.endsWith('.ts') && source >= 0)
    url.pathname = `${url.pathname.slice(0, source)}/dist/${url.pathname.slice(source + '/src/'.length)}`
  url.pathname = url.pathname.replace(/\.ts$/, '.js')
  return url
}
