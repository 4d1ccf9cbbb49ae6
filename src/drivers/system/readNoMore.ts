import type { Socket } from 'node:net'

/** Weakly: a connection that is silent for hours must not keep what it sent last. */
const pieces = new WeakMap<Socket, WeakRef<Buffer>>()

/** Remembers which piece of a connection is being read, for `readNoMore`. */
export function watchPieces(socket: Socket): void {
  socket.prependListener('data', (piece: Buffer) => pieces.set(socket, new WeakRef(piece)))
}

/**
 * Ends a connection in the middle of a piece. Parsers read a piece of 64 KiB to its end in one go, 10,000 frames of it, also
 * after the connection was destroyed; what is left of it is made something that every one of them stops at.
 */
export function readNoMore(socket: Socket): void {
  pieces.get(socket)?.deref()?.fill(0xff)
  socket.destroy()
}
