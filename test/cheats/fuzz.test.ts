import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { fromBase64 } from '../../src/core/bytes/base64.ts'
import { sealEnvelope } from '../../src/core/certificate/envelope.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { encodeFrame } from '../../src/core/wire/frames.ts'
import type { Answer } from '../../src/core/wire/messages.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { honestProgram, type ProverProgram, tampered } from '../support/inProcessBox.ts'
import { openReferenceDevice } from '../support/openReferenceDevice.ts'
import { problemOf } from '../support/problemOf.ts'
import { testEngine } from '../support/testEngine.ts'
import { outcomeOf, VALIDATOR, verifyInProcess } from '../support/verifyInProcess.ts'

let catalogue: Catalogue
let engine: TileEngine
beforeAll(async () => {
  catalogue = await shippedCatalogue()
  engine = await testEngine()
})

const options = { memory: true, openings: 4 }
const honest = () => honestProgram({ devices: [openReferenceDevice({ engine })] })
const run = (program: ProverProgram) => outcomeOf(verifyInProcess({ program, catalogue, engine, options }))

/** Everything the honest prover writes, message by message, to know what lies where. */
async function transcript(): Promise<Answer[]> {
  const answers: Answer[] = []
  const program = tampered(honest(), {
    onAnswer: async (answer, line) => {
      answers.push(answer)
      await line.answer(answer)
    },
  })
  expect(await run(program)).toBe('ACCEPTED')
  return answers
}

/** Claims that prove nothing, and may be anything. */
const isClaim = ({ type }: Answer) => type === 'welcome' || type === 'inventory' || type === 'pong'

test('attack 49, property: one bit changed anywhere in what a prover says is never accepted, claims aside', async () => {
  const frames = (await transcript()).map((answer) => ({ claim: isClaim(answer), bytes: encodeFrame(answer).length }))
  const total = frames.reduce((sum, { bytes }) => sum + bytes, 0)
  const claimed = frames.findIndex(({ claim }) => !claim)
  const claimBytes = frames.slice(0, claimed).reduce((sum, { bytes }) => sum + bytes, 0)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: claimBytes, max: total - 1 }), fc.nat(7), async (at, bit) => {
      let written = 0
      const program: ProverProgram = ({ input, write }, signal) =>
        honest()(
          {
            input,
            write: (bytes) => {
              const here = at - written
              written += bytes.length
              if (here < 0 || here >= bytes.length) return write(bytes)
              const changed = bytes.slice()
              changed[here] = changed[here]! ^ (1 << bit)
              return write(changed)
            },
          },
          signal,
        )
      expect(await run(program)).not.toBe('ACCEPTED')
    }),
    { numRuns: 15 },
  )
}, 120_000)

test('attack 49, property: an answer lost, repeated, or swapped with the next is never accepted, and never a crash', async () => {
  const count = (await transcript()).length
  const act = fc.constantFrom('lose' as const, 'repeat' as const, 'swap' as const)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: count - 2 }), act, async (at, what) => {
      let index = 0
      let held: Answer | null = null
      const program = tampered(honest(), {
        onAnswer: async (answer, line) => {
          const here = index++ === at
          if (here && what === 'swap') {
            held = answer
            return
          }
          if (!here || what === 'repeat') await line.answer(answer)
          if (here && what === 'repeat') await line.answer(answer)
          if (held) {
            await line.answer(held)
            held = null
          }
        },
      })
      expect(await run(program)).not.toBe('ACCEPTED')
    }),
    { numRuns: 15 },
  )
}, 120_000)

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Every place in a value, as the way to it. */
const placesOf = (value: Json, way: readonly (string | number)[] = []): (readonly (string | number)[])[] => {
  if (typeof value !== 'object' || value === null) return [way]
  const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return [way, ...inner.flatMap(([key, part]) => placesOf(part, [...way, key]))]
}

function put(value: Json, [key, ...rest]: readonly (string | number)[], change: (old: Json) => Json): Json {
  if (key === undefined) return change(value)
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as { [key: string]: Json }
  copy[key] = put(copy[key]!, rest, change)
  return copy
}

/** What only the signer vouches for (docs/spec/certificate.md): his own words, the claims, and the times. */
const VOUCHED =
  /^predicate\.(program|startedAt|issuedAt|notAfter|roundTripUs|claims\..*|parts\.\d+\.devices\.\d+\.arrivalsUs\.\d+)$/

test('attack 49, property: a validator that changes any one field is found out, and never crashes a reader', async () => {
  const { certificate } = await verifyInProcess({ program: honest(), catalogue, engine, options: { memory: true } })
  const payload = JSON.parse(certificate).payload as string
  const statement = JSON.parse(new TextDecoder().decode(fromBase64(payload)!)) as Json
  // Of the catalogue a few places: it is most of the statement, and one hash covers it.
  const places = placesOf(statement).filter((way, i) => way[1] !== 'catalogue' || i % 100 === 0)
  const change = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }).map((json) => () => json as Json),
    fc.constantFrom<(old: Json) => Json>(
      (old) => (typeof old === 'number' ? old + 1 : typeof old === 'string' ? `${old}A` : []),
      (old) => (typeof old === 'number' ? -old : typeof old === 'string' ? old.slice(1) : {}),
      (old) => [old],
      () => 2 ** 53,
    ),
  )
  await fc.assert(
    fc.asyncProperty(fc.nat(places.length - 1), change, async (at, edit) => {
      const way = places[at]!
      const changed = JSON.stringify(put(statement, way, edit))
      fc.pre(changed !== JSON.stringify(statement))
      const text = sealEnvelope(new TextEncoder().encode(changed), VALIDATOR)
      const problem = await problemOf(text, { engine, catalogue })
      if (problem === null) expect(way.join('.')).toMatch(VOUCHED)
    }),
    { numRuns: 60 },
  )
}, 120_000)

test('attacks 49 and 82: what a signer infers has the form of a judgement, and the catalogue it says', async () => {
  const { certificate } = await verifyInProcess({ program: honest(), catalogue, engine })
  const payload = JSON.parse(certificate).payload as string
  const statement = JSON.parse(new TextDecoder().decode(fromBase64(payload)!)) as Json
  const other = put(statement, ['predicate', 'judgement', 'catalogue'], () => '00'.repeat(32))
  const sold = put(other, ['predicate', 'claims', 'text'], () => 'x')
  const withClaim = (claim: Json) => put(sold, ['predicate', 'judgement', 'claim'], () => claim)
  const codeOf = async (value: Json) => {
    const text = sealEnvelope(new TextEncoder().encode(JSON.stringify(value)), VALIDATOR)
    return (await problemOf(text, { engine, catalogue }))?.code ?? null
  }
  const finding = { code: 'FITS_CLAIM', verdict: 'matches', device: 0, got: 'A', expected: 'A' }
  expect(await codeOf(withClaim({ text: 'x', verdict: 'matches', reasons: [finding] }))).toBe('WRONG_CATALOGUE')
  for (const strange of ['so', { ...finding, code: 'SO' }, { ...finding, more: 1 }])
    expect(await codeOf(withClaim({ text: 'x', verdict: 'matches', reasons: [strange] }))).toBe('MALFORMED')
  expect(await codeOf(withClaim({ text: 'x', verdict: 'matches', reasons: 5 }))).toBe('MALFORMED')
  expect(await codeOf(withClaim({ text: 'x', verdict: { a: 1 }, reasons: [] }))).toBe('MALFORMED')
  const device = ['predicate', 'judgement', 'devices', 0]
  expect(await codeOf(put(other, [...device, 'identity', 'closest'], () => 5))).toBe('MALFORMED')
  expect(await codeOf(put(other, [...device, 'memory'], () => ({ status: 7 })))).toBe('MALFORMED')
  expect(await codeOf(put(other, ['predicate', 'judgement', 'count'], () => null))).toBe('MALFORMED')
})
