/** How a prover ended. All but `lost` is the box's word. */
export interface ProverEnd {
  /** 128 and more for a signal, as shells have it; null where nobody told. */
  readonly code: number | null
  /** The connection went first. */
  readonly lost: boolean
  /** Its last words on standard error, plain and short: for the text of a fault, never for a verdict (attack 16). */
  readonly said: string
}

/** Our program on a box, reached through its standard streams. What it writes is hostile until core/wire has decoded it. */
export interface ProverProcess {
  /** Resolves when the bytes are handed to the transport; rejects when the process is gone. */
  write(bytes: Uint8Array): Promise<void>
  /** Standard output in the order it arrives. Ends when the process ends or the connection is lost. */
  readonly output: AsyncIterable<Uint8Array>
  /**
   * When what `output` gave last came, by the monotonic clock: stamped where nothing else is done, so that nobody who keeps
   * the reader busy makes another late (attack 447). Without it, what comes is stamped when it is read.
   */
  readonly cameUs?: () => number
  /** Settles when the process has ended; never rejects. */
  readonly ended: Promise<ProverEnd>
  /** Ends the process and everything it started, politely and then by force. Safe to call twice. */
  stop(): Promise<void>
}

/** A machine we hold for a while. Standard error of the prover is never part of a verdict (attack 16). */
export interface RemoteBox {
  /** How a person names it: "this machine", "ssh://user@host:22". */
  readonly address: string
  /** Claims about the way in (host key fingerprint, container or account), for the report. */
  readonly access: Readonly<Record<string, string>>
  /** Puts the prover where it can run; uploads only what is missing. The hash check guards against accidents, not lies. */
  install(signal: AbortSignal): Promise<void>
  start(signal: AbortSignal): Promise<ProverProcess>
  /** Leaves nothing running and, unless caching was asked for, nothing lying on the box. */
  close(): Promise<void>
}
