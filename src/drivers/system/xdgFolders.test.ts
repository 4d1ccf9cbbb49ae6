import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cacheFolder, configFolder, dataFolder, stateFolder } from './xdgFolders.ts'

describe.each([
  ['settings', configFolder, 'XDG_CONFIG_HOME', '.config'],
  ['keys', dataFolder, 'XDG_DATA_HOME', '.local/share'],
  ['state', stateFolder, 'XDG_STATE_HOME', '.local/state'],
  ['the cache', cacheFolder, 'XDG_CACHE_HOME', '.cache'],
] as const)('where %s lives', (_, folder, variable, usual) => {
  test('below its XDG folder, or the usual one where that is unset, empty or relative', () => {
    const own = join(homedir(), usual, 'touchstone')
    expect(folder({ [variable]: '/x/y' })).toBe('/x/y/touchstone')
    for (const given of [undefined, '', 'x/y']) expect(folder({ [variable]: given })).toBe(own)
  })

  test('TOUCHSTONE_HOME holds everything', () => {
    expect(folder({ TOUCHSTONE_HOME: '/one', [variable]: '/x' })).toBe('/one')
  })
})
