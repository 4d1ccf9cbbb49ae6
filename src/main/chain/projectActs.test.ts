import { expect, test } from 'vitest'
import { actOnProject, type ProjectAct, type ProjectFlags } from './projectActs.ts'

const { signal } = new AbortController()
const flags: ProjectFlags = {
  ...{ node: 'http://127.0.0.1:1', from: 'devnet:3', work: 310, depth: 4, about: '', utility: '1', count: 1 },
}

test.each<[string, ProjectAct, string, Partial<ProjectFlags>, string]>([
  ['a work that nobody could do', 'new', '', { work: 1_000_000 }, 'USAGE'],
  ['a result that is too large', 'new', '', { depth: 21 }, 'USAGE'],
  ['an address that moves cursors', 'new', '', { about: '\u001b[2J' }, 'USAGE'],
  ['a utility that is none', 'vote', '1', { utility: '3' }, 'USAGE'],
  ['a project that is no number', 'publish', 'first', {}, 'USAGE'],
  ['what could be said, and nobody to say it to', 'vote', '1', {}, 'NODE_NOT_RUNNING'],
])('attack 195: %s is refused before a password is asked for', async (_, act, given, more, code) => {
  const said = actOnProject(act, { ...flags, ...more }, given, {}, signal)
  await expect(said).rejects.toMatchObject({ detail: { code } })
})
