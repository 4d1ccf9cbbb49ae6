import pc from 'picocolors'

/** Where a person reads. Colours and redrawn lines only on a terminal; plain lines in a pipe. */
export interface Terminal {
  readonly colours: ReturnType<typeof pc.createColors>
  readonly isLive: boolean
  readonly columns: number
  line(text: string): void
  /** Replaces the last live line; on a pipe nothing is shown. */
  live(text: string): void
}

export function openTerminal(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Terminal {
  const isLive = stream.isTTY === true && env.TERM !== 'dumb'
  let shown = false
  const clear = () => {
    if (shown) stream.write('\r\x1b[2K')
    shown = false
  }
  return {
    colours: pc.createColors(isLive && !env.NO_COLOR),
    isLive,
    columns: stream.columns ?? 80,
    line(text) {
      clear()
      stream.write(`${text}\n`)
    },
    live(text) {
      if (!isLive) return
      clear()
      stream.write(text)
      shown = true
    },
  }
}
