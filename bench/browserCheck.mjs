#!/usr/bin/env node
// What a person waits for until the certificate of a real card is checked, in a browser and on the command line:
// `node bench/browserCheck.mjs`. Each turn does it once in a tab, and once by `touchstone check` on WebAssembly and on each
// native build that this machine runs. The command from its start to its end; the tab from the file to the verdict, and from
// the opening of the page. Seconds of wall clock hold on a machine with nothing else to do, processor time on any; figures
// are of the least turn each.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { availableParallelism, tmpdir } from 'node:os'
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

/** The command as it is typed, with the start of Node. */
async function onCommandLine(engine) {
  const env = { ...process.env, TOUCHSTONE_HOME: home, TOUCHSTONE_ENGINE: engine }
  const used = childSeconds()
  const began = performance.now()
  const command = [join(root, 'dist/main/touchstone.js'), 'check', file, '--trust', trust, '--json']
  const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk) => (said += chunk))
  await new Promise((resolve) => child.once('close', resolve))
  const wall = (performance.now() - began) / 1e3
  const { verdict } = JSON.parse(said)
  if (verdict !== 'as-claimed') throw new Error(`on the command line it is ${verdict}`)
  return { wall, processor: childSeconds() - used }
}

/** Seconds that children which have ended took, as the kernel counts them (fields 16 and 17 of proc(5) stat, in 1/100 s). */
function childSeconds() {
  const fields = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}

/** Seconds that all processes which run pages have used so far. */
async function usedByPages() {
  const { processInfo } = await devTools.send('SystemInfo.getProcessInfo')
  return processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}

async function inTab() {
  const page = await browser.newPage()
  const used = await usedByPages()
  const opened = performance.now()
  await page.goto(`http://127.0.0.1:${server.address().port}/#trust=${trust}`)
  const began = performance.now()
  await page.setInputFiles('#file', file)
  await page.waitForSelector('h1.as-claimed', { timeout: 300_000 })
  const ended = performance.now()
  const processor = (await usedByPages()) - used
  await page.close()
  return { wall: (ended - began) / 1e3, wallWithPage: (ended - opened) / 1e3, processor }
}

const engines = ['avx512', 'avx2', 'wasm']
const turns = { tab: [], avx512: [], avx2: [], wasm: [] }
for (let turn = 0; turn < TURNS; turn++) {
  turns.tab.push(await inTab())
  for (const engine of engines) turns[engine].push(await onCommandLine(engine))
}
await browser.close()
server.close()
rmSync(home, { recursive: true, force: true })
const least = (who, what) => Math.min(...turns[who].map((turn) => turn[what]))
const over = (engine, what) => least('tab', what) / least(engine, what)
const ratios = (engine) => ({ wall: over(engine, 'wall'), processor: over(engine, 'processor') })
const result = keepResult('browserCheck', 'node bench/browserCheck.mjs', {
  seconds: turns,
  tabOverCommand: Object.fromEntries(engines.map((engine) => [engine, ratios(engine)])),
  target: { tabOverCommand: 'at most 2' },
})
const seconds = (value) => (value === undefined ? '' : `${value.toFixed(2)} s`)
console.log(`H200 certificate, ${availableParallelism()} cores; least of ${TURNS} turns`)
for (const who of ['tab', ...engines]) {
  const wall = `${seconds(least(who, 'wall'))} waited, ${seconds(least(who, 'processor'))} of processor`
  const more =
    who === 'tab'
      ? `  (${seconds(least(who, 'wallWithPage'))} with opening the page)`
      : `  tab: ${over(who, 'wall').toFixed(2)}x waited, ${over(who, 'processor').toFixed(2)}x of processor`
  console.log(`${(who === 'tab' ? 'tab' : `check, ${who}`).padEnd(16)}${wall}${more}`)
}
console.log(JSON.stringify(result.tabOverCommand))
