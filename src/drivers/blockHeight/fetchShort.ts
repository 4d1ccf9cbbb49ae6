const LIMIT_MS = 10_000

/** What a node answers, if it is short and comes soon; nobody sends us elsewhere. */
export async function fetchShort(url: string, mostBytes: number, signal: AbortSignal): Promise<string> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)])
  // Where the operator pointed, and nowhere else.
  const response = await fetch(url, { signal: limit, redirect: 'error' })
  if (!response.ok) throw new Error(`it answers ${response.status}`)
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop cancels the answer: a node that never ends one fills nothing here.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new Error('it answers at length')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
