#!/usr/bin/env node
// What the check of a real card's certificate costs in a browser, beside Node: `node bench/browserCheck.mjs`.
// Each turn checks once in Node on WebAssembly, once in Node on each native build that this machine runs, once in Chromium.
// Ratios are of processor time, of the least turn each: they hold on a machine with other work too.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { keepResult } from './support/keepResult.mjs'

const TURNS = 3
const root = fileURLToPath(new URL('..', import.meta.url))
const file = join(root, 'bench/fixtures/h200-mainnet.json')
const trust = /"keyid":"([0-9a-f]{64})"/.exec(readFileSync(file, 'latin1'))[1]
const home = mkdtempSync(join(tmpdir(), 'touchstone-bench-'))
const types = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript' }
const server = createServer(({ url }, response) => {
  const name = new URL(url, 'http://x').pathname.replace(/^\/$/, '/index.html')
  response.setHeader('content-type', types[extname(name)] ?? 'text/plain')
  try {
    response.end(readFileSync(join(root, 'dist/web/check', name)))
  } catch {
    response.writeHead(404).end()
  }
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
const devTools = await browser.newBrowserCDPSession()

/** The check alone, without the start of the program: as the page measures it too. */
function inNode(engine) {
  const script = `import { readFileSync } from 'node:fs'
    import { checkCertificate } from ${JSON.stringify(join(root, 'dist/exports/index.js'))}
    const file = readFileSync(${JSON.stringify(file)})
    const [began, used] = [performance.now(), process.cpuUsage()]
    const { verdict } = await checkCertificate(file, { trust: ['${trust}'] })
    const { user, system } = process.cpuUsage(used)
    console.log(JSON.stringify({ verdict, wall: (performance.now() - began) / 1e3, processor: (user + system) / 1e6 }))`
  const env = { ...process.env, TOUCHSTONE_HOME: home, TOUCHSTONE_ENGINE: engine }
  writeFileSync(join(home, 'check.mjs'), script)
  const ran = spawnSync(process.execPath, [join(home, 'check.mjs')], { env, encoding: 'utf8' })
  if (ran.status !== 0) throw new Error(ran.stderr)
  const { verdict, ...seconds } = JSON.parse(ran.stdout)
  if (verdict !== 'as-claimed') throw new Error(`in Node it is ${verdict}`)
  return seconds
}

/** Seconds that all processes which run pages have used so far. */
async function usedByPages() {
  const { processInfo } = await devTools.send('SystemInfo.getProcessInfo')
  return processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}

async function inBrowser() {
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${server.address().port}/#trust=${trust}`)
  const used = await usedByPages()
  await page.setInputFiles('#file', file)
  await page.waitForSelector('h1.as-claimed', { timeout: 300_000 })
  const processor = (await usedByPages()) - used
  const wall = Number(/in ([0-9.]+) s/.exec(await page.textContent('#took'))[1])
  await page.close()
  return { wall, processor }
}

const engines = ['wasm', 'avx2', 'avx512']
const turns = { wasm: [], avx2: [], avx512: [], browser: [] }
for (let turn = 0; turn < TURNS; turn++) {
  for (const engine of engines) turns[engine].push(inNode(engine))
  turns.browser.push(await inBrowser())
}
await browser.close()
server.close()
rmSync(home, { recursive: true, force: true })
const least = (all) => Math.min(...all.map(({ processor }) => processor))
const over = (engine) => least(turns.browser) / least(turns[engine])
const result = keepResult('browserCheck', 'node bench/browserCheck.mjs', {
  seconds: turns,
  browserOverNode: { figure: over('wasm'), target: { atMost: 2 }, met: over('wasm') <= 2 },
  browserOverNativeKernels: { avx2: over('avx2'), avx512: over('avx512') },
})
console.log(JSON.stringify(result, null, 2))
