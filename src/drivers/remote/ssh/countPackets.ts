/**
 * Hears each thing that the library tells, and says whether the server has now sent too much. `came`: bytes of data, null
 * where something else is told; `seconds`: since the line was opened.
 */
type Rule = (told: string, came: number | null, seconds: number) => boolean

/**
 * Flow control holds for the data of a channel alone, and the library does not insist on it: whatever else a server sends
 * takes the time of the one thread that reads what all boxes send. `onTooMany` is called when there was too much.
 */
export function countPackets(onTooMany: () => void, nowMs: () => number): (told: string) => void {
  const sinceMs = nowMs()
  const rules = [packets(), smallPieces(), keyExchanges(), sftpAnswers(), sftpGreeting(), flow()]
  return (told) => {
    const seconds = (nowMs() - sinceMs) / 1000
    const came = numberIn(told, DATA_IN)
    let tooMany = false
    // Each of them hears everything.
    for (const rule of rules) tooMany = rule(told, came, seconds) || tooMany
    if (tooMany) onTooMany()
  }
}

const DATA_IN = /^Inbound: CHANNEL_(?:EXTENDED_)?DATA \(.*?(\d+)\)$/
const DATA_OUT = /^Outbound: Sending CHANNEL_DATA \(.*?(\d+)\)$/
const GRANTED = /^Outbound: Sending CHANNEL_WINDOW_ADJUST \(.*?(\d+)\)$/
const OPENED = 'Outbound: Sending CHANNEL_OPEN ('
const SFTP_ASKED_FOR = /^Outbound: Sending CHANNEL_REQUEST \(r:\d+, subsystem: sftp\)$/

/** The number at the end of what is told, or null where it is about something else. */
function numberIn(told: string, what: RegExp): number | null {
  const found = what.exec(told)?.[1]
  return found === undefined ? null : Number(found)
}

/**
 * Attack 430. What is no data, or comes in tiny pieces, in units of about 5 µs: far more than a login, an upload and a run
 * take, and far less than anybody would notice.
 */
const MOST = 20_000
const PER_SECOND = 500
const UNITS = { CHANNEL_WINDOW_ADJUST: 1, other: 5 }

/** So small a piece of data costs more to take in than it says. A root has 49 bytes. */
const TINY_BYTES = 24

/** So many letters of an answer over SFTP take as long as a unit. */
const LETTERS = 1024

function packets(): Rule {
  let spent = 0
  return (told, came, seconds) => {
    spent = Math.max(0, spent + (came === null ? unitsOf(told) : Math.max(0, 1 - came / TINY_BYTES)))
    return spent > MOST + PER_SECOND * seconds
  }
}

function unitsOf(told: string): number {
  if (told.startsWith('Handshake')) return UNITS.other
  if (told.startsWith('SFTP: Inbound')) return told.length / LETTERS
  // The server says what it has taken in of what we send: at most once for each packet.
  if (told.startsWith('Outbound: Sending CHANNEL_DATA')) return -UNITS.CHANNEL_WINDOW_ADJUST
  if (!told.startsWith('Inbound')) return 0
  return told.includes('CHANNEL_WINDOW_ADJUST') ? UNITS.CHANNEL_WINDOW_ADJUST : UNITS.other
}

/** Pieces of data of less than 1 KiB, whatever their channel: more than 32 devices with a packet for each root send. */
const SMALL = { bytes: 1024, most: 100_000, perSecond: 1000 }

function smallPieces(): Rule {
  let small = 0
  return (_, came, seconds) => {
    if (came !== null && came < SMALL.bytes) small++
    return small > SMALL.most + SMALL.perSecond * seconds
  }
}

/**
 * Attack 439. An exchange takes milliseconds, and a server may ask for one at any moment. Cautious ones do each hour and
 * each 512 MiB; the count comes before the costly part.
 */
const EXCHANGES = { most: 2, seconds: 300, bytes: 256 * 1024 * 1024 }

function keyExchanges(): Rule {
  let [exchanges, moved] = [0, 0]
  return (told, came, seconds) => {
    if (told.startsWith('Handshake: KEX algorithm: ')) exchanges++
    moved += came ?? numberIn(told, DATA_OUT) ?? 0
    return exchanges > EXCHANGES.most + seconds / EXCHANGES.seconds + moved / EXCHANGES.bytes
  }
}

/** Attack 440. Thousands of answers fit into one packet. What is told of an error counts as one too. */
const MORE_ANSWERS = 8

/** Nothing that we ask is answered by either, and each may hold thousands of things. */
const NEVER_ASKED_FOR = /^SFTP: Inbound: Received (?:NAME|ATTRS) /

function sftpAnswers(): Rule {
  let unasked = 0
  return (told) => {
    if (told.startsWith('SFTP: Outbound') || SFTP_ASKED_FOR.test(told)) unasked--
    if (told.startsWith('SFTP: Inbound')) unasked++
    return unasked > MORE_ANSWERS || NEVER_ASKED_FOR.test(told)
  }
}

/** The first answer lists what a server can do: a few hundred bytes, and what other channels say meanwhile. */
const GREETING_BYTES = 64 * 1024

function sftpGreeting(): Rule {
  let greeted: number | null = null
  return (told, came) => {
    if (SFTP_ASKED_FOR.test(told)) greeted = 0
    if (told.startsWith('SFTP: Inbound')) greeted = null
    if (greeted === null) return false
    greeted += came ?? 0
    return greeted > GREETING_BYTES
  }
}

/** Attack 441. The library takes data for channels that were never opened, and beyond the window of those that were. */
const WINDOW_BYTES = 2 * 1024 * 1024

function flow(): Rule {
  let left = 0
  return (told, came) => {
    if (told.startsWith(OPENED)) left += WINDOW_BYTES
    left += came === null ? (numberIn(told, GRANTED) ?? 0) : -came
    return left < 0
  }
}
