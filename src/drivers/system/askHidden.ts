/** What of a terminal it takes to ask. */
export interface AskingTerminal {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
}

const LONGEST = 1024
const [CTRL_C, BACKSPACE, DELETE] = ['\u0003', '\b', '\u007f']
/** Enter, Ctrl-C or Ctrl-D ends what was typed. */
const KEYS = /^[^\r\n\u0003\u0004]*/u

/**
 * Asks a question on a terminal and shows nothing of the answer; null for an empty one. Ctrl-C is what it always is: the
 * terminal sends no signal while it hides what is typed, so we do.
 */
export function askHidden(
  { input, output }: AskingTerminal,
  question: string,
  signal: AbortSignal,
  interrupt: () => void = () => process.kill(process.pid, 'SIGINT'),
): Promise<string | null> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    let typed = ''
    const finish = (end: () => void): void => {
      input.off('data', take)
      signal.removeEventListener('abort', onAbort)
      input.setRawMode(false)
      input.pause()
      output.write('\n')
      end()
    }
    const onAbort = (): void => finish(() => reject(signal.reason))
    const take = (chunk: Buffer): void => {
      const text = chunk.toString('utf8')
      const [keys = ''] = KEYS.exec(text) ?? []
      for (const letter of keys) {
        if (letter === BACKSPACE || letter === DELETE) typed = [...typed].slice(0, -1).join('')
        else if (typed.length < LONGEST) typed += letter
      }
      const end = text[keys.length]
      if (end === CTRL_C) interrupt()
      else if (end !== undefined) finish(() => resolve(typed === '' ? null : typed))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    output.write(question)
    input.setRawMode(true)
    input.on('data', take)
    input.resume()
  })
}
