import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'

/** What a server says first: its name, and the algorithms of every kind that it has. */
export interface SshOffer {
  readonly keyExchange: string
  readonly compression: string
}

const HAS_ALL = { hostKey: 'ssh-ed25519', cipher: 'aes128-ctr', mac: 'hmac-sha2-256' }

/** A server that makes an offer and says nothing else; it tells the numbers of the messages that it was sent in answer. */
export async function startSshOffer({ keyExchange, compression }: SshOffer) {
  const { hostKey, cipher, mac } = HAS_ALL
  const lists = [keyExchange, hostKey, cipher, cipher, mac, mac, compression, compression, '', '']
  const offer = Buffer.concat([Buffer.of(20), Buffer.alloc(16), ...lists.map(named), Buffer.alloc(5)])
  const messages: number[] = []
  const server = net.createServer(async (socket) => {
    socket.on('error', () => {})
    socket.write('SSH-2.0-offer\r\n')
    socket.write(packetOf(offer))
    let left = Buffer.alloc(0)
    let greeted = false
    for await (const chunk of socket) {
      left = Buffer.concat([left, chunk])
      const line = left.indexOf('\n')
      if (!greeted && line >= 0) left = left.subarray(line + 1)
      greeted ||= line >= 0
      while (greeted && left.length >= 6 && left.length >= 4 + left.readUInt32BE(0)) {
        messages.push(left[5]!)
        left = left.subarray(4 + left.readUInt32BE(0))
      }
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, messages, close: () => server.close() }
}

function named(text: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  return Buffer.concat([length, Buffer.from(text)])
}

/** As it goes over the line before anything is encrypted. */
function packetOf(payload: Buffer): Buffer {
  const padding = 16 - ((payload.length + 5) % 8)
  const head = Buffer.alloc(5)
  head.writeUInt32BE(1 + payload.length + padding)
  head[4] = padding
  return Buffer.concat([head, payload, Buffer.alloc(padding)])
}
