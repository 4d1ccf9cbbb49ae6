// A validator in a process of its own, to be killed: asks for a lease, starts a prover that hangs, and holds on.
// Arguments: provider url, provider key, seconds, release folder, known_hosts file, private folder.
import { randomBytes } from 'node:crypto'
import { signerFrom } from '../../dist/core/bytes/ed25519.js'
import { connectLeased } from '../../dist/drivers/remote/leased/connectLeased.js'
import { systemClock } from '../../dist/drivers/system/systemClock.js'
import { systemRandomness } from '../../dist/drivers/system/systemRandomness.js'
import { dialWs, MESSAGES, reachedAt, wsChannel } from '../../dist/drivers/system/wsChannel.js'

const [url, key, seconds, release, knownHosts, mode] = process.argv.slice(2)
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)
const never = new AbortController().signal
const socket = await dialWs(url, MESSAGES, never)
const channel = wsChannel(socket)
say({ event: 'asking', atMs: Date.now() })
const options = {
  purpose: 'verify',
  seconds: Number(seconds),
  signer: signerFrom(new Uint8Array(randomBytes(32))),
  clock: systemClock,
  randomness: systemRandomness,
  ssh: {
    knownHostsFiles: [],
    ownKnownHostsFile: knownHosts,
    onFirstUse: () => false,
    flavours: [{ directory: release, machine: 'any', carriesNode: false }],
    keep: false,
  },
}
const box = await connectLeased({ channel, key, reached: reachedAt(socket) }, options, never)
say({ event: 'connected', access: box.access })
const prover = await box.start(never)
let text = ''
for await (const chunk of prover.output) {
  text += Buffer.from(chunk).toString()
  if (text.includes('\n')) break
}
say({ event: 'held', pids: text.trim().split(' ').map(Number) })
if (mode === 'release') {
  await box.close()
  say({ event: 'released' })
  process.exit(0)
}
const { lost } = await prover.ended
say({ event: 'ended', lost })
process.exit(0)
