import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { skipWith } from '../../../test/support/skipWith.ts'

/** A network of its own with a loopback that carries multicast, so that nothing leaves this machine. */
const ALONE = 'ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo'
const child = fileURLToPath(new URL('../../../test/support/discoveryChild.mjs', import.meta.url))
const isPossible = spawnSync('unshare', ['-rn', 'sh', '-c', ALONE]).status === 0

const PROMISE = 'mDNS: nodes of one chain find each other without a list, and those of another chain are left alone'

if (!isPossible) skipWith(PROMISE, 'this machine makes no network of its own with multicast (unshare -rn, ip)')
else
  test(PROMISE, async () => {
    const { stdout } = await promisify(execFile)('unshare', [
      ...['-rn', 'sh', '-c', `${ALONE} && exec "$0" "$1"`],
      ...[process.execPath, child],
    ])
    expect(JSON.parse(stdout)).toEqual(['ada met bob', 'bob met ada'])
  })
