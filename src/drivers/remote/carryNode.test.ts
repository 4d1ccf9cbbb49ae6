import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { keyPair } from '../../../test/support/keyPair.ts'
import { makeRelease } from '../../../test/support/makeRelease.ts'
import { pathWithoutNode } from '../../../test/support/pathWithoutNode.ts'
import { skipWith } from '../../../test/support/skipWith.ts'
import { startSshServer } from '../../../test/support/sshServer.ts'
import { carryNode, proverFlavours } from './carryNode.ts'
import { elfNeeds } from './elfNeeds.ts'
import { readRelease } from './readRelease.ts'
import { connectSsh } from './ssh/connectSsh.ts'

const root = mkdtempSync(join(tmpdir(), 'touchstone-carry-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const never = new AbortController().signal
/** Stands in for a Node: any small program will do to be carried. */
const SMALL = '/bin/cat'
const isHere = process.platform === 'linux' && process.arch === 'x64' && existsSync(SMALL)

describe('elfNeeds', () => {
  test('reads what the Node that runs this asks for, and refuses what is no program', () => {
    if (isHere) expect(elfNeeds(readFileSync(process.execPath))).toEqual(expect.arrayContaining(['libc.so.6']))
    expect(elfNeeds(Buffer.from('#!/bin/sh\n'))).toBeNull()
    expect(elfNeeds(Buffer.alloc(0))).toBeNull()
  })

  test('headers that point outside the file are refused, not followed', () => {
    if (!isHere) return
    const bent = readFileSync(SMALL)
    bent.writeBigUInt64LE(2n ** 40n, 40)
    expect(elfNeeds(bent)).toBeNull()
    expect(elfNeeds(readFileSync(SMALL).subarray(0, 2000))).toBeNull()
  })
})

if (!isHere) skipWith('a prover that carries its Node', 'this machine is not Linux on x86-64')
else
  describe('a prover that carries its Node', () => {
    test('is made once, goes to the box packed and with progress, and stays there by its hash', async () => {
      const [host, user] = [keyPair(), keyPair()]
      const [home, cache] = [join(root, 'home'), join(root, 'cache')]
      mkdirSync(home)
      const identity = join(root, 'id')
      writeFileSync(identity, user.private, { mode: 0o600 })
      const env = { PATH: pathWithoutNode(join(root, 'bin')) }
      const login = { home, user: 'renter', hostKey: host.private, authorizedKey: user.public, env }
      const server = await startSshServer(login)
      const heard: number[] = []
      const prover = { files: { 'prover.js': '// a prover' }, command: ['node', 'prover.js'] }
      const light = await readRelease(makeRelease(join(root, 'light'), prover))
      const install = async () => {
        const options = {
          auth: { keyFiles: [{ path: identity }] },
          knownHostsFiles: [],
          ownKnownHostsFile: join(root, 'known_hosts'),
          onFirstUse: () => true,
          flavours: [{ machine: 'any', carriesNode: true, directory: () => carryNode(light, SMALL, cache) }],
          keep: true,
          onUpload: (sent: number) => heard.push(sent),
        }
        const box = await connectSsh(`ssh://renter@127.0.0.1:${server.port}`, options, never)
        await box.install(never)
        await box.close()
        return box.access
      }
      try {
        const { uploadedBytes, release, node } = await install()
        expect(node).toBe('carried by the release')
        expect(heard.at(-1)).toBe(Number(uploadedBytes))
        const there = join(home, '.cache/touchstone', release!, 'bin/node')
        const [made] = readdirSync(cache)
        const here = join(cache, made!, 'bin/node')
        expect(readFileSync(there).equals(readFileSync(here))).toBe(true)
        expect(gunzipSync(readFileSync(`${here}.gz`)).equals(readFileSync(here))).toBe(true)
        expect(existsSync(`${there}.gz`)).toBe(false)
        expect(await install()).toMatchObject({ uploadedBytes: '0', release })
        expect(readdirSync(cache)).toEqual([made])
      } finally {
        await server.close()
      }
    })

    test('is refused where no box could run it', async () => {
      const script = join(root, 'node.sh')
      writeFileSync(script, '#!/bin/sh\n')
      for (const node of [script, join(root, 'missing')]) {
        const { directory } = (await proverFlavours(join(root, 'cache'), node)).find((one) => one.carriesNode)!
        await expect((directory as () => Promise<string>)()).rejects.toMatchObject({ detail: { code: 'NODE_UNFIT' } })
      }
    })
  })
