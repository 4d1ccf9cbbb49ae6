import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { serve } from '@hono/node-server'
import { OpenAPIHono } from '@hono/zod-openapi'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addPageRoutes } from '../../src/apps/api/addPageRoutes.ts'
import { createCheck } from '../../src/apps/check/createCheck.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { counterSign, sealReceipt } from '../../src/core/certificate/envelope.ts'
import { WORK_TYPE } from '../../src/core/work/receipt.ts'
import { readPage } from '../../src/drivers/system/readPage.ts'
import { openThreadedChecker } from '../../src/drivers/verifier/openThreadedChecker.ts'
import { reportPage } from '../../src/main/report/reportPage.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { noChromium, openChromium } from '../support/chromium.ts'
import { honestCertificate } from '../support/honestCertificate.ts'
import { skipWith } from '../support/skipWith.ts'
import { testSigner } from '../support/testSigner.ts'
import { VALIDATOR } from '../support/verifyInProcess.ts'

const key = toHex(VALIDATOR.publicKey)
const WATCHER = testSigner(2)
const pages = readPage()
const folder = mkdtempSync(join(tmpdir(), 'touchstone-page-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let certificate: string
let nowMs: number
beforeAll(async () => {
  ;({ certificate, nowMs } = await honestCertificate())
})

test('the page that checks has at most 250 KB of script, compressed', () => {
  const scripts = [...pages].filter(([name]) => name.endsWith('.js'))
  expect(scripts.map(([name]) => name).sort()).toEqual(['page.js', 'worker.js'])
  const zipped = scripts.reduce((sum, [, { body }]) => sum + gzipSync(body).length, 0)
  console.info(`the page that checks: ${zipped} bytes of script with gzip, WebAssembly and catalogue included`)
  expect(zipped).toBeLessThan(250_000)
})

const shownAs = (file: string) => {
  const deps = { catalogue: shippedCatalogue, openChecker: openThreadedChecker, nowMs: () => nowMs }
  const check = createCheck(deps, (checked) => ({ file, successorOf: new Map(), ...checked }))
  return check(certificate, { trust: [key] })
}

test('what a report says stays text, whoever wrote it', async () => {
  const hostile = '</pre><script>alert(1)</script><img src=x onerror=alert(2)>'
  const shown = await shownAs(hostile)
  const page = reportPage({ shown, certificate: Buffer.from(certificate), program: 'touchstone', style: 'p{}' })
  expect(page).not.toMatch(/<script|<img|https?:/)
  expect(page).toContain('&lt;script&gt;')
  expect(page).toContain(`href="data:application/json;base64,${Buffer.from(certificate).toString('base64')}"`)
})

if (noChromium) skipWith('the page in a browser', noChromium)
else
  describe('the page in a browser', () => {
    let browser: Browser
    let server: Server
    let root: string
    beforeAll(async () => {
      const app = new OpenAPIHono()
      addPageRoutes(app, { pages }, async (_, next) => next())
      server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
      await new Promise((resolve) => server.once('listening', resolve))
      root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      browser = await openChromium()
    })
    afterAll(async () => {
      await browser?.close()
      server?.close()
    })

    /** Opens the page, hands it a file, and waits for its answer; `heard` is every request and every complaint. */
    async function drop(content: string | Uint8Array, { name = 'certificate.json', trust = key } = {}) {
      const page = await browser.newPage()
      page.setDefaultTimeout(20_000)
      const heard = { requests: new Set<string>(), complaints: [] as string[], workers: 0 }
      page.on('request', (request) => heard.requests.add(request.url().replace(root, '')))
      page.on('console', (message) => heard.complaints.push(message.text()))
      page.on('pageerror', (error) => heard.complaints.push(error.message))
      page.on('worker', () => heard.workers++)
      await page.clock.setFixedTime(nowMs)
      await page.goto(`${root}/check#trust=${trust}`)
      const path = join(folder, name)
      writeFileSync(path, content)
      await page.setInputFiles('#file', path)
      await page.waitForSelector('h1')
      return { page, heard, ...(await shownOn(page)) }
    }

    const shownOn = async (page: Page) => ({
      headline: await page.textContent('h1'),
      text: (await page.textContent('#result')) ?? '',
      steps: await page.$$eval('#steps li', (all) => all.map((one) => one.getAttribute('data-state'))),
    })

    test('at its root a validator says what it is and where to go, and asks for nothing but its style', async () => {
      const page = await browser.newPage()
      const requests: string[] = []
      page.on('request', (request) => requests.push(request.url().replace(root, '')))
      await page.goto(root)
      expect(await page.textContent('h1')).toContain('verifies GPU boxes')
      expect(requests).toEqual(['/', '/check/style.css'])
      await page.click('a[href="./check/"]')
      await page.waitForSelector('#file')
      await page.close()
    })

    test('attack 368: a link brings no key that its reader does not see, below the one that he knows', async () => {
      const page = await browser.newPage()
      const other = 'ee'.repeat(32)
      const links = [`${key}&trust=%0A%0A%0A%0A${other}`, `${key}${'+'.repeat(400)}${other}`]
      for (const [i, link] of links.entries()) {
        await page.goto(`${root}/check/?${i}#trust=${link}`)
        expect(await page.inputValue('#trust')).toBe('')
        expect(await page.textContent('#result')).toContain('No key was taken from the address')
      }
      const lines = [key, '', '', '', '', ...Array.from({ length: 8 }, (_, i) => `${i}`.repeat(64)), `${other} ${key}`]
      await page.fill('#trust', lines.join('\n'))
      const field = () => page.$eval('#trust', (one) => [one.clientWidth < 320, one.scrollHeight - one.clientHeight])
      expect(await field()).toEqual([false, 0])
      await page.press('#trust', 'Tab')
      expect(await page.inputValue('#trust')).toBe(lines.join('\n').replace(/\s+/g, '\n'))
      await page.setViewportSize({ width: 320, height: 480 })
      await expect.poll(field).toEqual([true, 0])
      await page.close()
    })

    test('a good file holds; its openings are recomputed by workers, and nobody else is asked', async () => {
      const { page, heard, headline, text, steps } = await drop(certificate)
      expect(headline).toBe('GENUINE')
      expect(steps).toEqual(['done', 'done', 'done', 'done'])
      expect(text).toMatch(/(\d+) of \1 openings recomputed in/)
      expect(heard.workers).toBeGreaterThan(0)
      expect(await page.$('#asleep')).toBeNull()
      expect([...heard.requests].sort()).toEqual([
        '/check',
        ...['', 'page.js', 'style.css', 'worker.js'].map((name) => `/check/${name}`),
      ])
      expect(heard.complaints).toEqual([])
      await page.close()
    })

    test('attack 320: what a worker cannot do it says; nobody waits for an answer that never comes', async () => {
      const page = await browser.newPage()
      await page.goto(`${root}/check/`)
      const heard = await page.evaluate(`new Promise((resolve) => {
        const worker = new Worker('/check/worker.js', { type: 'module' })
        worker.onmessage = () => resolve('answer')
        worker.onerror = () => resolve('error')
        worker.postMessage({ range: { part: 0, device: 0, from: 0, to: 1 } })
      })`)
      expect(heard).toBe('error')
      await page.close()
    })

    test('a tampered file is refused, and the step that failed is marked', async () => {
      const bent = certificate.replace(/"payload":"(.{1000})./, (_, head) => `"payload":"${head}A`)
      const { page, headline, text, steps } = await drop(bent, { name: '<img src=x onerror=alert(1)>.json' })
      expect([headline, steps]).toEqual(['REFUSED', ['done', 'failed', 'waiting', 'waiting']])
      expect(text).toContain('[BAD_SIGNATURE]')
      expect(text).toContain('<img src=x onerror=alert(1)>.json')
      expect(text).not.toContain('recomputed')
      expect(await page.$('#result img')).toBeNull()
      await page.close()
    })

    test('a receipt of a work, with bytes behind its line, is told from a certificate', async () => {
      const statement = { predicateType: WORK_TYPE }
      const evidence = Uint8Array.from({ length: 512 }, (_, i) => i % 256)
      const { page, heard, headline, text } = await drop(sealReceipt({ statement, evidence }, VALIDATOR), {
        name: 'touchstone.receipt',
      })
      expect([headline, heard.complaints]).toEqual(['REFUSED', []])
      expect(text).toContain('[OTHER_VERSION]')
      await page.close()
      const earlier = { statement: { predicateType: 'urn:touchstone:work:1' }, evidence: new Uint8Array() }
      const old = await drop(sealReceipt(earlier, VALIDATOR), { name: 'receipt.json' })
      expect(old.text).toContain('[EARLIER_RECEIPT]')
      await old.page.close()
    })

    test('a foreign file is refused until its reader says whose it is', async () => {
      const countersigned = counterSign(certificate, WATCHER) ?? ''
      const { page, headline, text } = await drop(countersigned, { trust: '00'.repeat(32) })
      expect(headline).toBe('REFUSED')
      expect(text).not.toContain('--trust')
      // Attack 369: who knows one of the signers trusts that one, and no stranger beside it.
      const keys = [key, toHex(WATCHER.publicKey)].sort()
      const buttons = await page.$$eval('button', (all) => all.map((one) => one.textContent ?? ''))
      expect(buttons.map((button) => keys.filter((one) => button.includes(one)))).toEqual(keys.map((one) => [one]))
      await page.click(`button:has-text("${key}")`)
      await page.waitForSelector('h1.genuine')
      expect(await page.inputValue('#trust')).toBe(`${'00'.repeat(32)}\n${key}`)
      // What is said afterwards counts too, for the file that is there. Attack 370: until it is checked there is no answer.
      await page.fill('#claim', '8x H100 SXM')
      expect(await page.$$('h1, #steps:not([hidden])')).toEqual([])
      await page.press('#claim', 'Tab')
      await page.waitForSelector('h1:is(.not-as-claimed, .not-established)')
      await page.fill('#trust', 'YOUR_KEY')
      await page.press('#trust', 'Tab')
      await page.waitForSelector('h1:has-text("NOT CHECKED")')
      expect((await shownOn(page)).text).toContain('“YOUR_KEY” is not a key')
      // To a browser it is no change when the same is typed again.
      for (const typed of ['YOUR', 'YOUR_KEY']) await page.fill('#trust', typed)
      await page.click('button:has-text("Check again")')
      await page.waitForSelector('h1:has-text("NOT CHECKED")')
      await page.close()
    })

    test('opened from a disk, where no browser lets it run, it says so', async () => {
      const page = await browser.newPage()
      await page.goto(new URL('../../dist/web/check/index.html', import.meta.url).href)
      expect(await page.textContent('#asleep')).toContain('Open touchstone-check.html')
      await page.waitForSelector('#asleep', { state: 'visible' })
      await page.close()
    })

    test('as one file it checks from a disk: no other file, and nobody is asked', async () => {
      const page = await browser.newPage()
      const requests: string[] = []
      page.on('request', (request) => requests.push(request.url()))
      await page.clock.setFixedTime(nowMs)
      const alone = new URL('../../dist/web/touchstone-check.html', import.meta.url).href
      await page.goto(`${alone}#trust=${key}`)
      const path = join(folder, 'certificate.json')
      writeFileSync(path, certificate)
      await page.setInputFiles('#file', path)
      await page.waitForSelector('h1')
      expect((await shownOn(page)).headline).toBe('GENUINE')
      const bent = join(folder, 'bent.json')
      writeFileSync(
        bent,
        certificate.replace(/"payload":"(.{1000})./, (_, head) => `"payload":"${head}A`),
      )
      await page.setInputFiles('#file', bent)
      await page.waitForSelector('h1:has-text("REFUSED")')
      expect(requests).toEqual([alone])
      await page.close()
    })

    test('a report opens by itself: no request, no script', async () => {
      const style = await readFile(new URL('../../dist/web/check/style.css', import.meta.url), 'utf8')
      const shown = await shownAs('c.json')
      const path = join(folder, 'report.html')
      writeFileSync(path, reportPage({ shown, certificate: Buffer.from(certificate), program: 'touchstone', style }))
      const page = await browser.newPage()
      const heard: string[] = []
      page.on('request', (request) => heard.push(request.url()))
      page.on('console', (message) => heard.push(message.text()))
      await page.goto(`file://${path}`)
      expect(await page.textContent('h1')).toBe('GENUINE')
      // The policy lets the style in.
      expect(await page.evaluate('getComputedStyle(document.querySelector("pre")).borderTopWidth')).toBe('1px')
      expect(heard).toEqual([`file://${path}`])
      await page.close()
    })
  })
