import type { IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import { bodyWithin, openHttp } from './askHttp.ts'
import { fault } from './faults.ts'
import { addressesOf, isLoopback, isPublic } from './hostAddresses.ts'
import { withinTime } from './withinTime.ts'

const LIMIT_MS = 60_000
const MOST_REDIRECTS = 5

interface Place {
  readonly url: URL
  /** The very address that was judged: its name is not looked up again. */
  readonly at: string
}

/**
 * A file that somebody named by a URL: https, or http on this machine. The reader may name any host; an answer may send us
 * on to public ones alone, and over https. What is larger than the limit is not read; its size is told, as far as it came.
 */
export async function fetchFile(text: string, mostBytes: number, signal: AbortSignal): Promise<Uint8Array | number> {
  const url = shownUrl(text)
  try {
    return await withinTime(LIMIT_MS, signal, (inner) => follow(text, mostBytes, inner))
  } catch (cause) {
    if (signal.aborted || fault.is(cause, 'URL_REFUSED')) throw cause
    const { name, message } = cause as Error
    throw fault(
      'NOT_FETCHED',
      { url, why: name === 'AbortError' ? `no answer within ${LIMIT_MS / 1000} s` : message },
      cause,
    )
  }
}

async function follow(text: string, mostBytes: number, signal: AbortSignal): Promise<Uint8Array | number> {
  let place = await placeOf(new URL(text))
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const answer = await ask(place, signal)
    const next = locationOf(answer, place)
    if (next === null) return await bodyWithin(answer, mostBytes)
    answer.destroy()
    place = await publicPlace(next, shownUrl(text))
  }
  throw new Error(`more than ${MOST_REDIRECTS} redirections`)
}

/** Without a password that stands in it. */
const shownUrl = (text: string): string => {
  if (!URL.canParse(text)) throw fault('URL_REFUSED', { url: text, why: 'it is not an address' })
  const { origin, pathname } = new URL(text)
  return `${origin}${pathname}`
}

async function placeOf(url: URL): Promise<Place> {
  const refuse = (why: string) => fault('URL_REFUSED', { url: shownUrl(url.href), why })
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refuse('only https is fetched')
  const found = await addressesOf(url.hostname.replace(/^\[(.*)\]$/, '$1'))
  if (url.protocol === 'http:' && (found.length === 0 || !found.every(isLoopback)))
    throw refuse('plain http is fetched from this machine alone')
  if (found[0] === undefined) throw new Error('its name does not resolve')
  return { url, at: found[0] }
}

async function publicPlace(url: URL, from: string): Promise<Place> {
  const place = await placeOf(url)
  if (url.protocol !== 'https:' || !isPublic(place.at))
    throw fault('URL_REFUSED', { url: from, why: `it leads to ${shownUrl(url.href)}, which is not public` })
  return place
}

function ask({ url, at }: Place, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = { accept: 'application/json, */*', 'accept-encoding': 'identity' }
  const family = at.includes(':') ? 6 : 4
  const lookup: LookupFunction = (_, { all }, done) =>
    all ? done(null, [{ address: at, family }]) : done(null, at, family)
  return openHttp(url, { headers, lookup }, signal)
}

function locationOf({ statusCode = 0, headers }: IncomingMessage, { url }: Place): URL | null {
  if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) return new URL(headers.location, url)
  if (statusCode !== 200) throw new Error(`it answers ${statusCode}`)
  return null
}
