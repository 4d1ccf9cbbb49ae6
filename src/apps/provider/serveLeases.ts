import type { Clock } from '../../ports/clock.ts'
import type { MessageChannel, Seat } from '../../ports/leases.ts'
import type { LeaseService } from './leaseService.ts'

/** How often expiry is looked at when nothing else happens; the watchdog on disk is the second line. */
const TICK_MS = 1_000

/** Ends leases on time for as long as the provider runs, and all of them when it stops. */
export async function keepTime(service: LeaseService, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const next = await service.tick()
    const wait = next === null ? TICK_MS : Math.max(10, Math.min(TICK_MS, next - clock.wallTime().getTime()))
    await clock.sleep(wait, signal).catch(() => {})
  }
  await service.shutDown()
}

/** Answers one channel, one message at a time, for as long as it lives; who dialled whom makes no difference. */
export async function serveLine(
  service: LeaseService,
  channel: MessageChannel,
  signal: AbortSignal,
  seat?: Seat,
): Promise<void> {
  const stop = (): void => channel.close()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const message of channel.messages) {
      const answer = await service.handle(message, signal, seat)
      // Somebody who cannot sign a message has no business here.
      if (answer === null) return
      await channel.send(answer)
    }
  } finally {
    signal.removeEventListener('abort', stop)
    channel.close()
  }
}
