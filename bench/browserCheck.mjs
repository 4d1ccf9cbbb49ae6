#!/usr/bin/env node
// How long the check of a real card's certificate takes in a browser, beside Node: `node bench/browserCheck.mjs`.
// Each turn checks once in Node on WebAssembly, once in Node on the best kernels of this machine, once in Chromium.
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

/** The check alone, without the start of the program: as the page measures it too. */
function inNode(engine) {
  const script = `import { readFileSync } from 'node:fs'
    import { checkCertificate } from ${JSON.stringify(join(root, 'dist/exports/index.js'))}
    const file = readFileSync(${JSON.stringify(file)})
    const began = performance.now()
    const { verdict } = await checkCertificate(file, { trust: ['${trust}'] })
    console.log(JSON.stringify({ verdict, seconds: (performance.now() - began) / 1000 }))`
  const env = { ...process.env, TOUCHSTONE_HOME: home, ...(engine ? { TOUCHSTONE_ENGINE: engine } : {}) }
  writeFileSync(join(home, 'check.mjs'), script)
  const ran = spawnSync(process.execPath, [join(home, 'check.mjs')], { env, encoding: 'utf8' })
  if (ran.status !== 0) throw new Error(ran.stderr)
  const { verdict, seconds } = JSON.parse(ran.stdout)
  if (verdict !== 'as-claimed') throw new Error(`in Node it is ${verdict}`)
  return seconds
}

async function inBrowser() {
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${server.address().port}/#trust=${trust}`)
  await page.setInputFiles('#file', file)
  await page.waitForSelector('h1.as-claimed', { timeout: 120_000 })
  const seconds = Number(/in ([0-9.]+) s/.exec(await page.textContent('#took'))[1])
  await page.close()
  return seconds
}

const turns = { wasm: [], best: [], browser: [] }
for (let turn = 0; turn < TURNS; turn++) {
  turns.wasm.push(inNode('wasm'))
  turns.best.push(inNode())
  turns.browser.push(await inBrowser())
}
await browser.close()
server.close()
rmSync(home, { recursive: true, force: true })
const least = (all) => Math.min(...all)
const ratio = least(turns.browser) / least(turns.wasm)
const result = keepResult('browserCheck', 'node bench/browserCheck.mjs', {
  seconds: turns,
  browserOverNode: { figure: ratio, target: { atMost: 2 }, met: ratio <= 2 },
  browserOverNativeKernels: least(turns.browser) / least(turns.best),
})
console.log(JSON.stringify(result, null, 2))
