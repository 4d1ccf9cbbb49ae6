import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { concatBytes, u32le } from '../bytes/bytes.ts'
import { DecodeError } from '../bytes/reader.ts'
import { HOST_TARGETS, MARK_BYTES } from '../params/hostParts.ts'
import { encodeFrame, FrameDecoder } from './frames.ts'
import { CODECS, type Message, type MessageType } from './messages.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const upTo = (length: number) => fc.uint8Array({ maxLength: length })
const u32 = fc.nat(0xffffffff)
const output = { segment: u32, transition: u32, step: u32, output: u32 }
const ALL = Object.keys(CODECS) as MessageType[]

const code = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,39}$/)
const plain = fc.stringMatching(/^[\x21-\x7e]([\x20-\x7e]{0,60}[\x21-\x7e])?$/)

const messages: { readonly [T in MessageType]: fc.Arbitrary<Extract<Message, { type: T }>> } = {
  hello: fc.constant({ type: 'hello' }),
  ping: fc.record({ type: fc.constant('ping'), token: bytes(8) }),
  challenge: fc.record({ type: fc.constant('challenge'), bytes: upTo(300) }),
  start: fc.record({ type: fc.constant('start'), part: u32, s: bytes(32) }),
  passes: fc.record({ type: fc.constant('passes'), part: u32, z: bytes(32) }),
  reveal: fc.record({ type: fc.constant('reveal'), part: u32, nonce: bytes(32) }),
  finish: fc.constant({ type: 'finish' }),
  attest: fc.constant({ type: 'attest' }),
  list: fc.constant({ type: 'list' }),
  attested: fc.record({ type: fc.constant('attested'), bundle: upTo(300) }),
  store: fc.record({
    type: fc.constant('store'),
    target: fc.constantFrom(...HOST_TARGETS),
    seed: bytes(32),
    blocks: u32,
    lanes: u32,
  }),
  walk: fc.record({ type: fc.constant('walk'), nonce: bytes(32), lanes: u32, stride: u32 }),
  halt: fc.constant({ type: 'halt' }),
  stored: fc.record({ type: fc.constant('stored'), pastCache: fc.boolean() }),
  walked: fc.record({
    type: fc.constant('walked'),
    lanes: fc.array(
      fc.nat(3).chain((marks) => bytes(marks * MARK_BYTES)),
      { minLength: 1, maxLength: 5 },
    ),
  }),
  unable: fc.record({ type: fc.constant('unable'), code, text: plain }),
  welcome: fc.record({ type: fc.constant('welcome'), key: bytes(32) }),
  inventory: fc.record({ type: fc.constant('inventory'), inventory: upTo(300) }),
  pong: fc.record({ type: fc.constant('pong'), token: bytes(8) }),
  ready: fc.record({ type: fc.constant('ready'), signature: bytes(64) }),
  root: fc.record({ type: fc.constant('root'), part: u32, device: u32, index: u32, root: bytes(32) }),
  opened: fc.record({ type: fc.constant('opened'), part: u32, device: u32, paths: upTo(300) }),
  result: fc.record({ type: fc.constant('result'), signature: bytes(64) }),
  telemetry: fc.record({ type: fc.constant('telemetry'), device: u32, sample: upTo(300) }),
  greet: fc.constant({ type: 'greet' }),
  assign: fc.record({
    ...{ type: fc.constant('assign'), isHidden: fc.boolean(), firstHash: bytes(32), secondHash: bytes(32) },
    ...{ orderId: bytes(32), every: u32, proven: fc.constantFrom(null, 'shared', 'all'), spec: upTo(300) },
  }),
  give: fc.record({ type: fc.constant('give'), input: u32, bytes: upTo(300) }),
  seed: fc.record({ type: fc.constant('seed'), seed: bytes(32) }),
  unveil: fc.constant({ type: 'unveil' }),
  draw: fc.record({ type: fc.constant('draw'), nonce: bytes(32) }),
  prove: fc.constant({ type: 'prove' }),
  vouch: fc.constant({ type: 'vouch' }),
  askTrace: fc.record({ type: fc.constant('askTrace'), segment: u32 }),
  askNodes: fc.record({ type: fc.constant('askNodes'), ...output, level: u32, from: fc.maxSafeNat(), count: u32 }),
  askLeaf: fc.record({ type: fc.constant('askLeaf'), ...output, leaf: fc.maxSafeNat() }),
  askPatch: fc.record({
    ...{ type: fc.constant('askPatch'), segment: u32, transition: u32, step: u32, patch: fc.maxSafeNat() },
  }),
  greeted: fc.record({ type: fc.constant('greeted'), key: bytes(32), device: upTo(256) }),
  accepted: fc.record({ type: fc.constant('accepted'), provesSteps: fc.boolean() }),
  mark: fc.record({ type: fc.constant('mark'), segment: u32, root: bytes(32), statistics: upTo(64) }),
  hidden: fc.record({ type: fc.constant('hidden'), segment: u32, commitment: bytes(32) }),
  piece: fc.record({ type: fc.constant('piece'), segment: u32, tensor: u32, bytes: upTo(300) }),
  executed: fc.record({ type: fc.constant('executed'), signature: bytes(64) }),
  unveiled: fc.record({ type: fc.constant('unveiled'), salt: bytes(32) }),
  traced: fc.record({ type: fc.constant('traced'), segment: u32, roots: upTo(300) }),
  patch: fc.record({ type: fc.constant('patch'), segment: u32, index: u32, leafBytes: u32, bytes: upTo(300) }),
  vouched: fc.record({ type: fc.constant('vouched'), bundle: upTo(300) }),
  proven: fc.record({ type: fc.constant('proven'), proof: upTo(300) }),
  nodes: fc.record({ type: fc.constant('nodes'), hashes: upTo(512) }),
  leaf: fc.record({ type: fc.constant('leaf'), bytes: upTo(1024) }),
  saidStep: fc.record({ type: fc.constant('saidStep'), segment: u32, root: bytes(32), roots: upTo(300) }),
  stepProof: fc.record({ type: fc.constant('stepProof'), segment: u32, restBytes: u32, productsBytes: u32 }),
  fault: fc.record({ type: fc.constant('fault'), code, text: fc.oneof(fc.constant(''), plain) }),
}
const message: fc.Arbitrary<Message> = fc.oneof(...ALL.map((type) => messages[type]))

/** Messages from these bytes, or the DecodeError; anything else thrown is a defect. */
function decode(chunks: readonly Uint8Array[], accepted: readonly MessageType[] = ALL) {
  const decoder = new FrameDecoder(accepted)
  const found: Message[] = []
  try {
    for (const chunk of chunks) for (const one of decoder.push(chunk)) found.push(one)
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError)
    expect((error as DecodeError).message).toMatch(/^[\x20-\x7e]{1,200}$/)
    return { found, refused: true, partial: false }
  }
  return { found, refused: false, partial: decoder.partial }
}

describe('frames', () => {
  test.each(ALL)('property: %s comes back as it went', (type) => {
    fc.assert(
      fc.property(messages[type] as fc.Arbitrary<Message>, (one) => {
        expect(decode([encodeFrame(one)])).toEqual({ found: [one], refused: false, partial: false })
      }),
      { numRuns: 30 },
    )
  })

  test('property: any cut of a stream into pieces gives the same messages', () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), cuts, (sent, sizes) => {
        const stream = concatBytes(...sent.map(encodeFrame))
        const chunks: Uint8Array[] = []
        for (let at = 0, i = 0; at < stream.length; at += sizes[i++ % sizes.length]!)
          chunks.push(stream.subarray(at, at + sizes[i % sizes.length]!))
        expect(decode(chunks)).toEqual({ found: sent, refused: false, partial: false })
      }),
    )
  })

  test('property: a message cut short is never a message', () => {
    fc.assert(
      fc.property(message, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (one, share) => {
        const frame = encodeFrame(one)
        const { found, refused, partial } = decode([frame.subarray(0, Math.floor(share * frame.length))])
        expect(found).toEqual([])
        expect(refused).toBe(false)
        expect(partial).toBe(Math.floor(share * frame.length) > 0)
      }),
    )
  })

  test('property: a changed message is refused, waits for more, or is another message that comes back as itself', () => {
    fc.assert(
      fc.property(message, fc.nat(400), fc.integer({ min: 1, max: 255 }), (one, at, change) => {
        const frame = encodeFrame(one).slice()
        frame[at % frame.length] = frame[at % frame.length]! ^ change
        for (const other of decode([frame]).found) expect(decode([encodeFrame(other)]).found).toEqual([other])
      }),
      { numRuns: 500 },
    )
  })

  test('property: a body with one byte more or less is refused where the length is fixed', () => {
    const orders = ['hello', 'list', 'ping', 'start', 'passes', 'reveal', 'finish'] as const
    const fixed = [...orders, 'welcome', 'pong', 'ready', 'root', 'result'] as const
    fc.assert(
      fc.property(fc.oneof(...fixed.map((type) => messages[type])), fc.boolean(), (one, more) => {
        const body = encodeFrame(one).subarray(5)
        if (!more && body.length === 0) return
        const changed = more ? concatBytes(body, Uint8Array.of(0)) : body.subarray(1)
        const frame = concatBytes(u32le(changed.length + 1), Uint8Array.of(CODECS[one.type].id), changed)
        expect(decode([frame]).refused).toBe(true)
      }),
    )
  })

  test('property: attack 12, noise throws nothing but DecodeError', () => {
    fc.assert(
      fc.property(fc.array(upTo(80), { maxLength: 6 }), (noise) => void decode(noise)),
      { numRuns: 1000 },
    )
  })

  test.each(ALL)('a %s over its limit is refused by its head alone', (type) => {
    const head = concatBytes(u32le(CODECS[type].limit + 2), Uint8Array.of(CODECS[type].id))
    expect(decode([head]).refused).toBe(true)
    expect(decode([concatBytes(u32le(0), Uint8Array.of(CODECS[type].id))]).refused).toBe(true)
  })

  test('a type that has no business here is refused', () => {
    expect(decode([encodeFrame({ type: 'finish' })], ['root', 'opened']).refused).toBe(true)
  })

  test('attack 12: a fault keeps nothing that a terminal would obey', () => {
    const body = new TextEncoder().encode('BUSY \u001b[2J\u001b]0;x\u0007')
    const frame = concatBytes(u32le(body.length + 1), Uint8Array.of(CODECS.fault.id), body)
    expect(decode([frame]).found).toEqual([{ type: 'fault', code: 'BUSY', text: '?[2J?]0;x?' }])
  })
})
