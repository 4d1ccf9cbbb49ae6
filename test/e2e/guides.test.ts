import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type CommandEnd, openCommandLine } from '../support/commandLine.ts'
import { commandsOn } from '../support/guide.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-guides-'))
const line = openCommandLine({ ...process.env, TOUCHSTONE_HOME: folder, NO_COLOR: '1' })
afterAll(async () => {
  await line.close()
  rmSync(folder, { recursive: true, force: true })
})

let ownKey = ''

/** As it is typed here: this machine in place of a rented one, files in a folder of the test, and a quick run. */
function typedHere(words: readonly string[]): string[] {
  const here = words
    .filter((word) => word !== 'root@203.0.113.7')
    .map((word) => (/\.(json|html)$/.test(word) ? join(folder, word.replace(/^touchstone-.*\./, 'box.')) : word))
    .map((word) => word.replace('YOUR_KEY', ownKey))
  if (words[0] !== 'verify') return here
  const out = words.includes('--out') ? [] : ['--out', join(folder, 'box.json')]
  return [...here, ...out, '--preset', 'tiny', '--devices', 'cpu']
}

const ran = new Map<string, CommandEnd>()

/** A command that two pages show runs once. */
async function run(words: readonly string[]): Promise<CommandEnd> {
  const args = typedHere(words)
  const key = [...args].sort().join(' ')
  const ended = ran.get(key) ?? (await line.run(args))
  ran.set(key, ended)
  ownKey ||= /signed by +([0-9a-f]{64})/.exec(ended.stdout)?.[1] ?? ''
  return ended
}

test.each(['README.md', 'docs/guides/renter.md'])(
  '%s catches a box that is not what was sold, command by command',
  async (page) => {
    const commands = commandsOn(page)
    expect(new Set(commands.map(([name]) => name))).toEqual(new Set(['verify', 'check', 'report']))
    for (const words of commands) {
      const { status, stdout, stderr } = await run(words)
      expect({ words, status, stderr: stderr.replace(/^ .*\n/gm, '') }).toEqual({ words, status: 1, stderr: '' })
      if (words.includes('--json')) expect(JSON.parse(stdout)).toMatchObject({ verdict: 'not-as-claimed' })
      else
        expect(stdout).toMatch(/^NOT AS CLAIMED {2}sold 8 x H100 SXM, (found 1 x CPU, no GPU|tested 1 x CPU; left out)/)
    }
    const html = commands.flat().find((word) => word.endsWith('.html'))!
    expect(existsSync(typedHere([html])[0]!)).toBe(true)
  },
)

test('every guide is listed, and every one that shows a command is run by a test that names it', () => {
  const list = readFileSync(new URL('../../docs/guides/README.md', import.meta.url), 'utf8')
  const guides = [...list.matchAll(/\]\(([a-z-]+\.md)\)/g)].map(([, name]) => name!)
  const tests = {
    renter: 'guides',
    seller: 'renting',
    operator: 'validator',
    'ml-engineer': 'bench',
    node: 'nodeFaults',
    drilling: 'drilling.long',
  }
  expect(guides.map((name) => name.replace('.md', '')).sort()).toEqual(
    [...Object.keys(tests), 'developer', 'new-kind'].sort(),
  )
  for (const [guide, name] of Object.entries(tests))
    expect(readFileSync(new URL(`./${name}.test.ts`, import.meta.url), 'utf8')).toContain(`docs/guides/${guide}.md`)
  const library = readFileSync(new URL('../library.test.ts', import.meta.url), 'utf8')
  expect(library).toContain('docs/guides/developer.md')
})

test('docs/guides/new-kind.md shows the kind and the test that are run, to the letter', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const shown = [...read('docs/guides/new-kind.md').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code)
  // Only where its imports lie is different: the guide's files stand in a folder of src.
  const asInGuide = (name: string) =>
    read(`test/newKind/${name}`)
      .replaceAll("'../../src/core/work/", "'../../")
      .replaceAll("'../../src/core/", "'../../../")
      .replaceAll("'../../src/drivers/", "'../../../../drivers/")
  expect(shown).toEqual(['ranking.ts', 'ranking.test.ts'].map(asInGuide))
})
