import type { ClientChannel } from 'ssh2'

/**
 * Takes what a channel prints up to and including the line that is exactly `marker`; what follows stays unread. Returns what
 * came before, or null if the channel ended first or said more than `limitBytes` without it.
 */
export function readUntilMarker(channel: ClientChannel, marker: string, limitBytes: number): Promise<Buffer | null> {
  const line = Buffer.from(`\n${marker}\n`)
  let seen = Buffer.alloc(0)
  return new Promise((resolve) => {
    const finish = (result: Buffer | null): void => {
      channel.removeListener('readable', take)
      channel.removeListener('end', gone)
      channel.removeListener('close', gone)
      resolve(result)
    }
    const gone = (): void => finish(null)
    const take = (): void => {
      for (let chunk = channel.read() as Buffer | null; chunk !== null; chunk = channel.read() as Buffer | null) {
        seen = Buffer.concat([seen, chunk])
        const at = seen.indexOf(line)
        if (at < 0 && seen.length <= limitBytes) continue
        const rest = at < 0 ? seen.subarray(0, 0) : seen.subarray(at + line.length)
        if (rest.length > 0) channel.unshift(rest)
        finish(at < 0 ? null : seen.subarray(0, at))
        return
      }
    }
    channel.on('readable', take)
    channel.once('end', gone)
    channel.once('close', gone)
    take()
  })
}
