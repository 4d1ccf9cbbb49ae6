import pc from 'picocolors'
import { asTyped } from './asTyped.ts'

export type Colours = ReturnType<typeof pc.createColors>
export type Terminal = ReturnType<typeof openTerminal>

/** Read each time: a window can be made smaller. Some terminals say 0 and mean that they do not know. */
const columnsOf = (stream: NodeJS.WriteStream): number => stream.columns || 80

/** Where a person reads. Colours and redrawn lines only on a terminal; plain lines in a pipe. */
export function openTerminal(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv) {
  const isLive = stream.isTTY === true && env.TERM !== 'dumb'
  const typed = asTyped(env)
  let shown = false
  const clear = () => {
    if (shown) stream.write('\r\x1b[2K')
    shown = false
  }
  const line = (text: string): void => {
    clear()
    stream.write(`${typed(text)}\n`)
  }
  return {
    isLive,
    colours: pc.createColors(isLive && !env.NO_COLOR),
    /** How wide a paragraph may be: as wide as the window, but not so wide that it is hard to read. */
    get columns() {
      return Math.max(40, Math.min(100, columnsOf(stream)))
    },
    /** How wide a live bar may be, with room for words and counts beside it. */
    get barWidth() {
      return Math.min(30, Math.max(4, columnsOf(stream) - 28))
    },
    line,
    lines: (texts: readonly string[]): void => texts.forEach(line),
    /** Replaces the last live line; on a pipe nothing is shown. What is wider than the terminal is cut: two rows could not be replaced. */
    live(text: string): void {
      if (!isLive) return
      clear()
      stream.write([...text].slice(0, columnsOf(stream) - 1).join(''))
      shown = true
    },
  }
}
