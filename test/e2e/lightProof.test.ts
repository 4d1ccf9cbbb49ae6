import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toHex } from '../../src/core/bytes/hex.ts'
import { findAccount, located } from '../../src/core/chain/chainState.ts'
import { genesisState, stateRoot } from '../../src/core/chain/genesisState.ts'
import { proveEntry } from '../../src/core/chain/proveEntry.ts'
import { balanceAt, balanceOf } from '../../src/core/chain/purse.ts'
import * as world from '../support/chainWorld.ts'
import { noChromium, openChromium } from '../support/chromium.ts'
import { skipWith } from '../support/skipWith.ts'

const names = ['ada', 'bob', 'cyd', 'dan']
const state = world.advance(genesisState(world.genesisOf(names.map((name) => world.accountNamed(name)))))
const place = findAccount(located(state), world.keyNamed('cyd'))

/** A page knows the root of a header that it trusts, works out where the entry stands, and is handed the rest. */
const PAGE = `
  import { checkLightProof, columnGindex, numberInLeaf } from './lightProof.ts'
  const bytes = (hex) => Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16))
  globalThis.entryOf = ({ root, at, leaf, witnesses }) => {
    const proof = { gindex: columnGindex('purse', at), leaf: bytes(leaf), witnesses: witnesses.map(bytes) }
    return checkLightProof(bytes(root), proof) ? String(numberInLeaf(proof.leaf, at, 8)) : null
  }`

async function script(): Promise<string> {
  const resolveDir = fileURLToPath(new URL('../../src/core/chain/', import.meta.url))
  const stdin = { contents: PAGE, resolveDir, loader: 'ts' } as const
  const { outputFiles } = await build({ stdin, bundle: true, format: 'iife', platform: 'browser', write: false })
  return outputFiles[0]!.text
}

if (noChromium) skipWith('a light proof in a browser', noChromium)
else
  describe('a light proof in a browser', () => {
    let browser: Browser
    let page: Page
    beforeAll(async () => {
      browser = await openChromium()
      page = await browser.newPage()
      await page.addScriptTag({ content: await script() })
    })
    afterAll(() => browser.close())

    const at = balanceAt(place)
    const { leaf, witnesses } = proveEntry(state, ['accounts', 'purse', at])
    const honest = { root: toHex(stateRoot(state)), at, leaf: toHex(leaf), witnesses: witnesses.map(toHex) }
    const shown = (proof: typeof honest) => page.evaluate<string | null>(`entryOf(${JSON.stringify(proof)})`)

    test('shows a balance under the root of a header, and nothing where anything was changed', async () => {
      expect(await shown(honest)).toBe(String(balanceOf(state.view.accounts, place)))
      const swapped = honest.witnesses.with(3, honest.witnesses[4]!)
      const changes = [{ at: balanceAt(place + 2) }, { root: toHex(state.head) }, { leaf: honest.root }]
      for (const changed of [...changes, { witnesses: swapped }])
        expect(await shown({ ...honest, ...changed })).toBeNull()
    })
  })
