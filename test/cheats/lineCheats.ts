import { expect } from 'vitest'
import type { BoxReport } from '../../src/apps/validator/verifyBox.ts'
import { concatBytes } from '../../src/core/bytes/bytes.ts'
import { encodeFrame } from '../../src/core/wire/frames.ts'
import { type Answer, CODECS } from '../../src/core/wire/messages.ts'
import { honestProgram, type Line, type ProverProgram, tampered } from '../support/inProcessBox.ts'
import { testSigner } from '../support/testSigner.ts'
import { type BoxCheat, type CheatKit, honestDevices, randomBytes } from './cheat.ts'

type Root = Extract<Answer, { type: 'root' }>

/** An honest prover behind a hand on the line. */
const onAnswers =
  (act: (answer: Answer, line: Line, kit: CheatKit) => Promise<void>, devices = 1) =>
  (kit: CheatKit): ProverProgram =>
    tampered(honestProgram({ devices: honestDevices(kit, devices) }), {
      onAnswer: (answer, line) => act(answer, line, kit),
    })

/** Changes roots and lets everything else pass. */
const onRoots = (act: (root: Root, line: Line, kit: CheatKit) => Promise<void>) =>
  onAnswers((answer, line, kit) => (answer.type === 'root' ? act(answer, line, kit) : line.answer(answer)))

const isRoot = (answer: Answer, index: number): boolean => answer.type === 'root' && answer.index === index

const TEN_MS = (kit: CheatKit) => ({ round: (signal: AbortSignal) => kit.clock.sleep(10, signal) })

/** Four rounds of 10 ms each and nothing else: whatever the prover plays, this is the rate. */
const HONEST_RATE = (4 * 2 * 64 ** 3) / 0.04

function expectHonestRate({ judgement }: BoxReport): void {
  const rate = judgement.devices[0]!.rates.int8!
  expect(rate).toBeLessThanOrEqual(HONEST_RATE)
  expect(rate).toBeGreaterThan(0.98 * HONEST_RATE)
}

function withholding(kit: CheatKit): ProverProgram {
  const held: Answer[] = []
  return tampered(honestProgram({ devices: honestDevices(kit, 1, { costs: TEN_MS(kit) }) }), {
    onAnswer: async (answer, line) => {
      if (answer.type !== 'root') return await line.answer(answer)
      held.push(answer)
      if (held.length === 4) for (const root of held) await line.answer(root)
    },
  })
}

/** Poses as the prover with a key of its own and passes everything on to an honest box elsewhere. */
function relays(kit: CheatKit): ProverProgram {
  const elsewhere = honestProgram({ devices: honestDevices(kit), signer: testSigner(8) })
  return tampered(elsewhere, {
    onAnswer: (answer, line) =>
      line.answer(answer.type === 'welcome' ? { ...answer, key: testSigner(9).publicKey } : answer),
  })
}

/** The same, with the signatures made over by the relay: the honest prover does not even start. */
function relaysAndSigns(kit: CheatKit): ProverProgram {
  const elsewhere = honestProgram({ devices: honestDevices(kit), signer: testSigner(8) })
  return tampered(elsewhere, {
    onAnswer: async (answer, line) => {
      if (answer.type === 'welcome') return await line.answer({ ...answer, key: testSigner(9).publicKey })
      if (answer.type === 'fault') return await line.answer({ type: 'ready', signature: randomBytes(kit.chance, 64) })
      await line.answer(answer)
    },
  })
}

/** Swaps what two devices answer. */
function swapsDevices(kit: CheatKit): ProverProgram {
  const opened: Extract<Answer, { type: 'opened' }>[] = []
  return tampered(honestProgram({ devices: honestDevices(kit, 2) }), {
    onAnswer: async (answer, line) => {
      if (answer.type !== 'opened' || answer.part > 0) return await line.answer(answer)
      opened.push(answer)
      if (opened.length < 2) return
      const [first, second] = opened
      await line.answer({ ...first!, paths: second!.paths })
      await line.answer({ ...second!, paths: first!.paths })
    },
  })
}

/** Nothing but claims: no root, no opening, eight rows of timings. */
const onlyTimings = onAnswers(async (answer, line) => {
  if (['welcome', 'inventory', 'pong', 'ready'].includes(answer.type)) return await line.answer(answer)
  if (!isRoot(answer, 0)) return
  const row = new TextEncoder().encode(JSON.stringify({ matmulMs: 0.01, memoryGb: 80 }))
  for (let device = 0; device < 8; device++) await line.answer({ type: 'telemetry', device, sample: row })
})

const emptyOpenings = onAnswers(async (answer, line) => {
  if (answer.type !== 'root') return await line.answer(answer)
  if (answer.index === 0) await line.answer({ type: 'opened', part: 0, device: 0, paths: new Uint8Array(0) })
})

const oneDeviceSilent = onAnswers(
  (answer, line) => (answer.type === 'root' && answer.device === 1 ? Promise.resolve() : line.answer(answer)),
  2,
)

const vanishesAt = (type: Answer['type']) =>
  onAnswers(async (answer, line) => (answer.type === type ? line.hangUp() : await line.answer(answer)))

const silentAt = (type: Answer['type']) =>
  onAnswers(async (answer, line) => (answer.type === type ? undefined : await line.answer(answer)))

/** The neutral element of the curve, and a signature that holds for every message under it. */
const NEUTRAL_POINT = Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 1 : 0))
const NEUTRAL_SIGNATURE = concatBytes(NEUTRAL_POINT, new Uint8Array(32))

/** Shows this key, and signs its readiness with a signature that every message has under the neutral point. */
const posesAs =
  (key: Uint8Array) =>
  (kit: CheatKit): ProverProgram =>
    tampered(honestProgram({ devices: honestDevices(kit) }), {
      onOrder: async (order, line) =>
        order.type === 'challenge'
          ? await line.answer({ type: 'ready', signature: NEUTRAL_SIGNATURE })
          : await line.order(order),
      onAnswer: (answer, line) => line.answer(answer.type === 'welcome' ? { ...answer, key } : answer),
    })

const two = { precisions: ['int8', 'bf16'] as const }
const memory = { memory: true, precisions: [] as const }

/** Cheats with messages: an honest device, and somebody who drops, delays, repeats, reorders or invents what it says. */
export const LINE_CHEATS: readonly BoxCheat[] = [
  {
    attack: 1,
    name: 'timing rows instead of roots',
    how: 'eight rows of telemetry, no root',
    expected: 'LATE_ROOT',
    program: onlyTimings,
  },
  {
    attack: 1,
    name: 'an empty opening instead of roots',
    how: 'skips to the end',
    expected: 'UNEXPECTED_OPENING',
    program: emptyOpenings,
  },
  {
    attack: 1,
    name: 'one device of two silent',
    how: 'drops the roots of device 1',
    expected: 'LATE_ROOT',
    program: oneDeviceSilent,
  },
  {
    attack: 10,
    name: "another device's openings",
    how: 'swaps what two devices answer',
    expected: 'OPENING_DOES_NOT_REACH_ROOT',
    program: swapsDevices,
  },
  {
    attack: 11,
    name: 'a late root',
    how: 'a day between two roots',
    expected: 'LATE_ROOT',
    program: onRoots(async (root, line, kit) => {
      if (root.index === 2) await kit.clock.sleep(86_400_000)
      await line.answer(root)
    }),
  },
  {
    attack: 11,
    name: 'a root twice',
    how: 'repeats the first',
    expected: 'UNEXPECTED_ROOT',
    program: onRoots(async (root, line) => {
      await line.answer(root)
      if (root.index === 0) await line.answer(root)
    }),
  },
  {
    attack: 11,
    name: 'roots out of order',
    how: 'the second goes first',
    expected: 'UNEXPECTED_ROOT',
    program: (kit) => {
      let first: Answer | null = null
      return onRoots(async (root, line) => {
        if (root.index === 0) {
          first = root
          return
        }
        await line.answer(root)
        if (root.index === 1) await line.answer(first!)
      })(kit)
    },
  },
  {
    attack: 11,
    name: 'one root too many',
    how: 'a fifth of four',
    expected: 'UNEXPECTED_ROOT',
    program: onRoots(async (root, line) => {
      await line.answer(root)
      if (root.index === 3) await line.answer({ ...root, index: 4 })
    }),
  },
  {
    attack: 11,
    name: 'a root of a device nobody asked',
    how: 'device 7',
    expected: 'UNEXPECTED_ROOT',
    program: onRoots((root, line) => line.answer({ ...root, device: 7 })),
  },
  {
    attack: 11,
    name: 'a root of another part',
    how: 'part 1 in part 0',
    expected: 'UNEXPECTED_ROOT',
    program: onRoots((root, line) => line.answer({ ...root, part: 1 })),
  },
  {
    attack: 11,
    name: 'a root of the next part before its S',
    how: 'in one packet with the openings of the part before',
    expected: 'EARLY_ROOT',
    options: two,
    program: onAnswers(async (answer, line, kit) => {
      if (answer.type !== 'opened' || answer.part !== 0)
        return isRoot(answer, 0) && (answer as Root).part === 1 ? undefined : await line.answer(answer)
      const early: Answer = { type: 'root', part: 1, device: 0, index: 0, root: randomBytes(kit.chance) }
      await line.raw(concatBytes(encodeFrame(answer), encodeFrame(early)))
    }),
  },
  {
    attack: 11,
    name: 'openings before the nonce',
    how: 'after the first root',
    expected: 'UNEXPECTED_OPENING',
    program: onRoots(async (root, line) => {
      await line.answer(root)
      await line.answer({ type: 'opened', part: 0, device: 0, paths: new Uint8Array(512) })
    }),
  },
  {
    attack: 11,
    name: 'openings with the last root',
    how: 'in one packet, before the nonce is out',
    expected: 'UNEXPECTED_OPENING',
    program: onRoots((root, line) =>
      root.index < 3
        ? line.answer(root)
        : line.raw(
            concatBytes(
              encodeFrame(root),
              encodeFrame({ type: 'opened', part: 0, device: 0, paths: new Uint8Array(512) }),
            ),
          ),
    ),
  },
  {
    attack: 11,
    name: 'openings twice',
    how: 'repeats them in the next part',
    expected: 'UNEXPECTED_OPENING',
    options: two,
    program: onAnswers(async (answer, line) => {
      await line.answer(answer)
      if (answer.type === 'opened') await line.answer(answer)
    }),
  },
  {
    attack: 11,
    name: 'a result instead of roots',
    how: 'skips the run',
    expected: 'UNEXPECTED_MESSAGE',
    program: onRoots((_, line, kit) => line.answer({ type: 'result', signature: randomBytes(kit.chance, 64) })),
  },
  {
    attack: 11,
    name: 'a result nobody signed',
    how: '64 random bytes',
    expected: 'BAD_RESULT_SIGNATURE',
    program: onAnswers((answer, line, kit) =>
      line.answer(answer.type === 'result' ? { ...answer, signature: randomBytes(kit.chance, 64) } : answer),
    ),
  },
  {
    attack: 493,
    name: 'forged, and a result nobody signed',
    how: 'sends other roots than its prover signs for, so that nobody could read what it was rejected for',
    expected: 'OPENING_DOES_NOT_REACH_ROOT',
    program: onAnswers((answer, line, kit) =>
      line.answer(answer.type === 'root' ? { ...answer, root: randomBytes(kit.chance, 32) } : answer),
    ),
  },
  {
    attack: 31,
    name: 'roots withheld and released together',
    how: 'holds three roots back',
    expected: 'ACCEPTED',
    program: withholding,
    check: expectHonestRate,
  },
  {
    attack: 31,
    name: 'an early end',
    how: 'stops after two roots of four',
    expected: 'LATE_ROOT',
    program: onRoots((root, line) => (root.index < 2 ? line.answer(root) : Promise.resolve())),
  },
  {
    attack: 32,
    name: 'slow pings',
    how: 'two seconds for each answer to a ping, to have them subtracted',
    expected: 'ACCEPTED',
    check: expectHonestRate,
    program: (kit) =>
      tampered(honestProgram({ devices: honestDevices(kit, 1, { costs: TEN_MS(kit) }) }), {
        onAnswer: async (answer, line) => {
          if (answer.type === 'pong') await kit.clock.sleep(2000)
          await line.answer(answer)
        },
      }),
  },
  {
    attack: 33,
    name: 'a relay to an honest prover',
    how: 'puts its own key in the welcome',
    expected: 'PROVER_FAULT',
    program: relays,
  },
  {
    attack: 33,
    name: 'a relay that signs',
    how: 'answers ready where the honest prover refuses',
    expected: 'BAD_READY_SIGNATURE',
    program: relaysAndSigns,
  },
  {
    attack: 34,
    name: 'gone when the nonce is out',
    how: 'ends the process',
    expected: 'VANISHED',
    program: vanishesAt('opened'),
  },
  {
    attack: 34,
    name: 'silent when the nonce is out',
    how: 'never opens',
    expected: 'LATE_OPENING',
    program: silentAt('opened'),
  },
  {
    attack: 34,
    name: 'a refusal when the nonce is out',
    how: 'sends a fault',
    expected: 'REFUSED',
    program: onAnswers((answer, line) =>
      line.answer(answer.type === 'opened' ? { type: 'fault', code: 'BUSY', text: 'no' } : answer),
    ),
  },
  {
    attack: 34,
    name: 'gone before the result',
    how: 'ends the process',
    expected: 'VANISHED',
    program: vanishesAt('result'),
  },
  {
    attack: 34,
    name: 'silent before the result',
    how: 'never signs',
    expected: 'VANISHED',
    program: silentAt('result'),
  },
  {
    attack: 38,
    name: 'a pass before Z_0',
    how: 'the first pass root in one packet with the last fill root',
    expected: 'EARLY_ROOT',
    options: memory,
    program: onRoots(async (root, line, kit) => {
      if (root.index === 2) return
      if (root.index !== 1) return await line.answer(root)
      await line.raw(concatBytes(encodeFrame(root), encodeFrame({ ...root, index: 2, root: randomBytes(kit.chance) })))
    }),
  },
  {
    attack: 38,
    name: 'a fill root after Z_0',
    how: 'waits with the last root of the fill for Z_0',
    expected: 'LATE_ROOT',
    options: memory,
    program: onRoots((root, line) => (root.index === 1 ? Promise.resolve() : line.answer(root))),
  },
  {
    attack: 43,
    name: 'openings of megabytes',
    how: 'as large as any opening may be, for one of a kilobyte',
    expected: 'WRONG_OPENING_SIZE',
    program: onAnswers((answer, line) =>
      line.answer(answer.type === 'opened' ? { ...answer, paths: new Uint8Array(CODECS.opened.limit - 8) } : answer),
    ),
  },
  {
    attack: 47,
    name: 'a key of small order',
    how: 'under which every message seems to be signed',
    expected: 'BAD_READY_SIGNATURE',
    program: posesAs(NEUTRAL_POINT),
  },
  {
    attack: 47,
    name: 'a key that is no point',
    how: '32 bytes of 0xff',
    expected: 'BAD_READY_SIGNATURE',
    program: posesAs(new Uint8Array(32).fill(255)),
  },
]
