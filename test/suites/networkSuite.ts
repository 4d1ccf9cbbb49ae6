import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type Judged,
  MOST_FAULTS,
  MOST_MESSAGE_BYTES,
  MOST_QUESTION_BYTES,
  type Network,
  type NetworkHandlers,
  type Topic,
} from '../../src/ports/network.ts'
import { eventually } from '../support/eventually.ts'

/** A node that keeps what it got, and says of each message what it is told to say. */
export class Listener implements NetworkHandlers {
  readonly got: { readonly topic: Topic; readonly text: string; readonly from: string }[] = []
  readonly met: string[] = []
  network!: Network
  judge: (text: string) => Judged = () => 'accept'
  answer: (question: string) => Uint8Array | null = (question) => bytes(`${question}!`)

  async onMessage(topic: Topic, data: Uint8Array, from: string): Promise<Judged> {
    const text = new TextDecoder().decode(data)
    this.got.push({ topic, text: text.slice(0, 100), from })
    return this.judge(text)
  }

  async onRequest(data: Uint8Array): Promise<Uint8Array | null> {
    return this.answer(new TextDecoder().decode(data))
  }

  onPeer(peer: string): void {
    this.met.push(peer)
  }

  texts(): string[] {
    return this.got.map(({ text }) => text)
  }
}

const bytes = (text: string) => new TextEncoder().encode(text)
const LIMITS = { mostBytes: 1_000, timeoutMs: 5_000 }

/** What every network promises; each driver runs all of it. `join` connects with those named, and with nobody else. */
export function networkSuite(
  name: string,
  join: (handlers: NetworkHandlers, near: readonly Network[]) => Promise<Network>,
): void {
  describe(`network: ${name}`, () => {
    /** Nodes in a line: each knows the one before it. */
    const line = async (length: number): Promise<Listener[]> => {
      const nodes: Listener[] = []
      for (let i = 0; i < length; i++) {
        const node = new Listener()
        node.network = await join(
          node,
          nodes.slice(-1).map(({ network }) => network),
        )
        onTestFinished(() => node.network.close())
        nodes.push(node)
      }
      const wanted = (i: number) => (i === 0 || i === length - 1 ? 1 : 2)
      await eventually(() =>
        nodes.every(({ network, met }, i) => network.peers().length === wanted(i) && met.length > 0),
      )
      return nodes
    }
    /** Says it again until it is heard: a network that is just being built may miss the first words. */
    const sayUntilHeard = async (from: Listener, text: string, isHeard: () => boolean) => {
      let times = 0
      await eventually(async () => {
        await from.network.publish('votes', bytes(`${text} ${times++}`))
        return isHeard()
      })
    }

    test('what is accepted goes on to those who are further away; what is not stays', async () => {
      const [one, two, three] = (await line(3)) as [Listener, Listener, Listener]
      await sayUntilHeard(one, 'hello', () => three.got.length > 0)
      expect(three.got[0]).toMatchObject({ topic: 'votes', from: two.network.id })
      two.judge = (text) => (text.startsWith('good') ? 'accept' : text.startsWith('bad') ? 'reject' : 'ignore')
      for (const word of ['bad', 'odd', 'good']) await one.network.publish('txs', bytes(`${word} word`))
      await eventually(() => three.texts().includes('good word'))
      expect(two.texts()).toEqual(expect.arrayContaining(['bad word', 'odd word', 'good word']))
      expect(three.texts().filter((text) => /^(bad|odd)/.test(text))).toEqual([])
    })

    test('a message comes once, however often it is said', async () => {
      const [one, two] = (await line(2)) as [Listener, Listener]
      await sayUntilHeard(one, 'hello', () => two.got.length > 0)
      for (let i = 0; i < 5; i++) await one.network.publish('blocks', bytes('again'))
      await one.network.publish('blocks', bytes('last'))
      await eventually(() => two.texts().includes('last'))
      expect(two.texts().filter((text) => text === 'again')).toEqual(['again'])
    })

    test('a question has an answer, or null', async () => {
      const [one, two] = (await line(2)) as [Listener, Listener]
      const ask = (text: string, limits = LIMITS) => one.network.request(two.network.id, bytes(text), limits)
      expect(await ask('well')).toEqual(bytes('well!'))
      two.answer = () => new Uint8Array(1_001)
      expect(await ask('too long')).toBeNull()
      two.answer = () => new Uint8Array(1_000)
      expect((await ask('just right'))?.length).toBe(1_000)
      expect(await one.network.request('nobody', bytes('well'), LIMITS)).toBeNull()
      expect(await one.network.request(two.network.id, new Uint8Array(MOST_QUESTION_BYTES + 1), LIMITS)).toBeNull()
    })

    test('attack 24: who sends what no honest node sends is cut off, and others are not', async () => {
      const [one, two, three] = (await line(3)) as [Listener, Listener, Listener]
      await sayUntilHeard(one, 'hello', () => three.got.length > 0)
      two.judge = (text) => (text.startsWith('junk') ? 'reject' : 'accept')
      for (let i = 0; i < MOST_FAULTS; i++) await one.network.publish('blocks', bytes(`junk ${i}`))
      await eventually(() => !two.network.peers().includes(one.network.id))
      expect(await one.network.request(two.network.id, bytes('well'), LIMITS)).toBeNull()
      expect(two.network.peers()).toEqual([three.network.id])
      expect(await three.network.request(two.network.id, bytes('well'), LIMITS)).toEqual(bytes('well!'))
      expect(three.texts().some((text) => text.startsWith('junk'))).toBe(false)
    })

    test('attack 24: questions that are none, and answers that are reported, cost the same', async () => {
      const [one, two] = (await line(2)) as [Listener, Listener]
      two.answer = () => null
      for (let i = 0; i < MOST_FAULTS; i++) await one.network.request(two.network.id, bytes('nonsense'), LIMITS)
      await eventually(() => two.network.peers().length === 0)
      const [three, four] = (await line(2)) as [Listener, Listener]
      for (let i = 0; i < MOST_FAULTS; i++) three.network.report(four.network.id)
      await eventually(() => three.network.peers().length === 0)
    })

    test('who asks a node that answers nothing hears nothing and keeps its standing', async () => {
      const [one, two] = (await line(2)) as [Listener, Listener]
      two.answer = () => {
        throw new Error('nothing is answered here')
      }
      for (let i = 0; i < 2 * MOST_FAULTS; i++)
        expect(await one.network.request(two.network.id, bytes('well'), LIMITS)).toBeNull()
      expect(two.network.peers()).toEqual([one.network.id])
      expect(await two.network.request(one.network.id, bytes('well'), LIMITS)).toEqual(bytes('well!'))
    })

    test('a message longer than any may be is not sent', async () => {
      const [one] = (await line(2)) as [Listener, Listener]
      await expect(one.network.publish('blocks', new Uint8Array(MOST_MESSAGE_BYTES + 1))).rejects.toThrow(RangeError)
    })
  })
}
