import { describe, expect, test } from 'vitest'
import { ownMachine, tampered } from '../../../../test/support/inProcessBox.ts'
import { Card, cardOn, FULL_SPEED, HOUR_MS, outcomes, play } from '../../../../test/support/playFleet.ts'
import { freshSigner } from '../../../../test/support/testSigner.ts'
import type { VirtualClock } from '../../../../test/support/virtualClock.ts'

/** One machine: whoever is led to it finds the same card and the same key. */
function machine() {
  const signer = freshSigner()
  let card: Card | null = null
  let opened = 0
  return {
    signer,
    opened: () => opened,
    program: (clock: VirtualClock) => {
      card ??= new Card(clock)
      return ownMachine({ signer, devices: [cardOn(card)], onOpen: () => opened++ })
    },
  }
}

const rateOf = ({ result }: { readonly result: { readonly figures: readonly { name: string; value: number }[] } }) =>
  result.figures.find(({ name }) => name === 'rate.int8.per_second')!.value

describe('attack 463: a box that only forwards to the machine of another box', () => {
  test('is refused before anything runs there, and the other shows all of its card', async () => {
    const victim = machine()
    const { results } = await play(
      ['other', 'victim'],
      (id, clock) => (id === 'other' ? machine() : victim).program(clock),
      {
        hours: 5,
        meanwhile: async (store, clock) => {
          await clock.sleep(1.5 * HOUR_MS)
          store.put('relay')
        },
      },
    )
    expect(new Set(outcomes(results('victim')))).toEqual(new Set(['accepted']))
    for (const result of results('victim')) expect(rateOf(result) / FULL_SPEED).toBeGreaterThan(0.9)
    expect(results('relay').length).toBeGreaterThan(2)
    expect(new Set(outcomes(results('relay')))).toEqual(new Set(['KEY_OF_ANOTHER_BOX']))
    expect(results('relay').every(({ box }) => box.failed && box.score === 0)).toBe(true)
    // Attack 470: nor is a device opened for it.
    expect(victim.opened()).toBe(results('victim').length)
  })

  test('from the first window on: one of both is paid for the machine, and that all of it', async () => {
    const shared = machine()
    const { results } = await play(['a', 'b'], (_, clock) => shared.program(clock), { hours: 4 })
    const [paid, refused] = ['a', 'b'].map(results).sort((x, y) => Number(y[0]!.box.scored) - Number(x[0]!.box.scored))
    expect(new Set(outcomes(paid!))).toEqual(new Set(['accepted']))
    for (const result of paid!) expect(rateOf(result) / FULL_SPEED).toBeGreaterThan(0.9)
    expect(new Set(outcomes(refused!))).toEqual(new Set(['KEY_OF_ANOTHER_BOX']))
  })

  test('a key that is named and not signed with is taken from nobody', async () => {
    const victim = machine()
    const { results } = await play(
      ['boaster', 'victim'],
      (id, clock) => {
        if (id === 'victim') return victim.program(clock)
        return tampered(machine().program(clock), {
          onAnswer: (answer, line) =>
            line.answer(answer.type === 'welcome' ? { ...answer, key: victim.signer.publicKey } : answer),
        })
      },
      { hours: 2, rented: (hour) => (hour === 0 ? ['victim'] : []) },
    )
    const { outcome } = results('victim').at(-1)!.result
    expect(outcome).toBe('accepted')
    expect(outcomes(results('boaster'))).not.toContain('accepted')
  })
})
