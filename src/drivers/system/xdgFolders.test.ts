import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cacheFolder, configFolder, dataFolder, ownHome, stateFolder } from './xdgFolders.ts'

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

  test('attack 278: TOUCHSTONE_HOME is no other folder wherever the program is started', () => {
    for (const home of ['keys', './keys', '../keys', '~/keys'])
      expect(() => folder({ TOUCHSTONE_HOME: home })).toThrow(`TOUCHSTONE_HOME is ${home}, `)
  })
})

test('attack 278: a home that is no whole path is that of the account, and never the working folder', () => {
  expect(ownHome('/home/me')).toBe('/home/me')
  for (const told of ['', '.', 'me', './me']) expect(ownHome(told)).toBe(userInfo().homedir)
})
