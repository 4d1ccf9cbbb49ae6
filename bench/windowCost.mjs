#!/usr/bin/env node
// What it costs honest boxes that a score is for one window (docs/spec/proof-of-gpu.md, §8.16), by simulation: a fleet round
// an hour, its window settled 12 to 32 minutes after it was opened, 150 boxes, 600 rounds. A box misses a window by accident
// with chance p. Rents last 10 hours; a box that is free again, or whose rent
// begins, between the opening and the window has no place in it.
//   node bench/windowCost.mjs
const BOXES = 150
const ROUNDS = 600
const SETTLED_IN = 30
const RENT_HOURS = 10

/** Numbers in [0, 1), the same in every run. */
function uniform(seed) {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** Share of its score that a box holds while it is free. */
function held(missed, rented) {
  const next = uniform(12345)
  const freeHours = rented > 0 ? (RENT_HOURS * (1 - rented)) / rented : Number.POSITIVE_INFINITY
  const freeFor = () => -Math.log(1 - next()) * freeHours * 60
  const boxes = Array.from({ length: BOXES }, () => {
    const isRented = next() < rented
    return { isRented, untilMin: isRented ? next() * RENT_HOURS * 60 : freeFor(), earnedIn: -1 }
  })
  let [sum, minutes] = [0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    const settledMin = 12 + Math.floor(next() * 20)
    const standing = new Set(boxes.filter(({ isRented }) => !isRented))
    for (let minute = 0; minute < 60; minute++) {
      for (const box of boxes)
        if (round * 60 + minute >= box.untilMin) {
          box.isRented = !box.isRented
          box.untilMin += box.isRented ? RENT_HOURS * 60 : freeFor()
          standing.delete(box)
        }
      if (minute === settledMin) for (const box of standing) if (next() >= missed) box.earnedIn = round
      const lastWindow = minute >= settledMin ? round : round - 1
      for (const { isRented, earnedIn } of boxes)
        if (round >= SETTLED_IN && !isRented) {
          sum += Number(earnedIn === lastWindow)
          minutes++
        }
    }
  }
  return sum / minutes
}

for (const [text, rented] of [
  ['nobody is rented', 0],
  ['60 % are rented', 0.6],
])
  for (const missed of [0, 0.01, 0.02, 0.05])
    console.log(`${text}, p = ${missed}: ${held(missed, rented).toFixed(3)} of its score while free`)
