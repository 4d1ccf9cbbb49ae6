import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { openCommandLine } from './support/commandLine.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = ['README.md', 'CONTRIBUTING.md', ...['docs', 'docs/guides', 'docs/spec', 'docs/adr'].flatMap(pagesOf)]

function pagesOf(folder: string): string[] {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)
}

const textOf = (page: string) => readFileSync(join(root, page), 'utf8')

/** What stands between back-quotes or in an indented or fenced block, one entry a line. */
const shown = pages.flatMap((page) =>
  [...textOf(page).matchAll(/`([^`\n]+)`|^(?: {4}|)((?:npx )?touchstone .+)$/gm)].map(([, quoted, line]) => ({
    page,
    text: (quoted ?? line)!.trim(),
  })),
)

const commands = openCommandLine(process.env)
afterAll(() => commands.close())
const help = async (...words: string[]) => (await commands.run([...words, '--help'])).stdout

const COMMANDS =
  'verify check report bench simulate rent provider validator work ledger wallet chain project faucet node'.split(' ')

describe('the documents', () => {
  test('show only commands and options that exist', async () => {
    const texts = new Map(await Promise.all(COMMANDS.map(async (name) => [name, await help(name)] as const)))
    for (const outer of ['validator', 'provider', 'ledger', 'wallet', 'chain', 'project', 'work', 'work run']) {
      const [, below = ''] = texts.get(outer)!.split('\nCommands:\n')
      const inner = [...below.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!)
      for (const name of inner)
        if (name !== 'help') texts.set(`${outer} ${name}`, await help(...outer.split(' '), name))
    }
    const wrong = shown.flatMap(({ page, text }) => {
      const typed = /^(?:npx )?touchstone ([a-z]+)(?: ([a-z]+)\b)?(?: ([a-z]+)\b)?/.exec(text)
      if (!typed) return []
      const [, command, sub, last] = typed
      const known = texts.get(command!)
      if (known === undefined) return [`${page}: ${text}`]
      const whole = known + (texts.get(`${command} ${sub}`) ?? '') + (texts.get(`${command} ${sub} ${last}`) ?? '')
      const options = [...text.matchAll(/ (--[a-z-]+)/g)].map(([, option]) => option!)
      return options.filter((option) => !whole.includes(option)).map((option) => `${page}: ${text} (${option})`)
    })
    expect(wrong).toEqual([])
    expect(shown.filter(({ text }) => text.includes('touchstone ')).length).toBeGreaterThan(15)
  })

  test('name only npm scripts that exist', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
    const asked = shown.flatMap(({ page, text }) =>
      [...text.matchAll(/\bnpm (?:run )?([a-z][a-z:]*)/g)].map(([, script]) => ({ page, script: script! })),
    )
    const ours = asked.filter(({ script }) => !['ci', 'install', 'pack', 'run', 'view', 'exec'].includes(script))
    expect(ours.filter(({ script }) => !Object.hasOwn(scripts, script))).toEqual([])
    expect(ours.length).toBeGreaterThan(5)
  })

  test('name only files of this repository that are there', () => {
    const path = /^(?:src|test|bench|docs|scripts|kernels|catalogue|examples)\/[A-Za-z0-9_./-]+\.[a-z]+$/
    const named = shown.flatMap(({ page, text }) => text.split(/[\s,;]+/).map((word) => ({ page, word })))
    expect(named.filter(({ word }) => path.test(word) && !existsSync(join(root, word)))).toEqual([])
  })

  test('link only to files that are there', () => {
    const links = pages.flatMap((page) =>
      [...textOf(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, to]) => ({ page, to: to! })),
    )
    expect(links.filter(({ page, to }) => !existsSync(join(root, dirname(page), to)))).toEqual([])
    expect(links.length).toBeGreaterThan(20)
  })

  test('that help names, and those that they link to, are in the package', async () => {
    const { files } = JSON.parse(textOf('package.json')) as { files: string[] }
    const isPacked = (path: string) => files.some((packed) => path === packed || path.startsWith(`${packed}/`))
    const told = await Promise.all([help(), ...COMMANDS.map((name) => help(name))])
    const named = told.flatMap((text) => text.match(/\b(?:docs|examples|catalogue)\/[a-zA-Z./-]*[a-z]/g) ?? [])
    expect(named.length).toBeGreaterThan(8)
    expect(named.filter((path) => !isPacked(path) || !existsSync(join(root, path)))).toEqual([])
    const guides = pages.filter((page) => page.startsWith('docs/guides/'))
    const linked = guides.flatMap((page) =>
      [...textOf(page).matchAll(/\]\(([^)#:]+)/g)].map(([, to]) => join(dirname(page), to!)),
    )
    expect(linked.filter((path) => !isPacked(path))).toEqual([])
  })
})
