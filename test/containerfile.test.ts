import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isInContext, readContainerfile } from './support/containerfile.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const instructions = readContainerfile()
const textsOf = (name: string) => instructions.filter((one) => one.name === name).map(({ text }) => text)

test('every file that the Containerfile takes is there, or made by a step before it', () => {
  for (const text of textsOf('COPY')) {
    const [, from, what = ''] = /^(?:--from=(\w+) )?(\S+) \S+$/.exec(text)!
    if (from === undefined) expect(existsSync(join(root, what)), text).toBe(true)
    else
      expect(
        textsOf('FROM').some((stage) => stage.endsWith(` AS ${from}`)),
        text,
      ).toBe(true)
  }
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const asked = textsOf('RUN').flatMap((text) => /npm run (\S+)/.exec(text)?.[1] ?? [])
  expect(asked).toEqual(['release:executable'])
  for (const script of asked) expect(scripts).toHaveProperty(script)
})

test('the build sees all that git keeps, and nothing that was built or installed here', () => {
  const kept = spawnSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).stdout.split('\n').filter(Boolean)
  expect(kept.filter((path) => !isInContext(path))).toEqual([])
  for (const path of ['node_modules/zod/index.js', 'dist/main/touchstone.js', 'release/touchstone', '.git/HEAD'])
    expect(isInContext(path)).toBe(false)
})

test('an account without rights runs it, and the entry point is the command', () => {
  expect(textsOf('USER')).toEqual(['1000:1000'])
  expect(textsOf('ENTRYPOINT')).toEqual(['["touchstone"]'])
})
