import { equalBytes } from '../bytes/bytes.ts'

/** Slots that are looked at for a key. Beyond them it goes to the map, so that nobody slows others down with chosen keys. */
const PROBES = 16

/**
 * Where each key of 32 bytes stands in its list. Derived, never committed to: branches of one genesis share it, and a place
 * that different keys took on different branches is looked up in the state itself.
 */
export class KeyPlaces {
  /** One more than the number of the key that hashed there; 0 is free. */
  private slots = new Int32Array(64)
  /** Of each key in the order in which they came: its words, and its first place. */
  private words = new Int32Array(8 * 32)
  private readonly firsts: number[] = []
  /** Further places of a key on other branches, and keys that found no slot, by name. */
  private readonly others = new Map<string, number[]>()
  /** The number of the key that first took a place, and places that another took elsewhere. */
  private readonly holders: (number | undefined)[] = []
  private readonly contested = new Set<number>()

  /** That this key stands there on some branch. */
  note(key: Uint8Array, place: number): void {
    if (this.numberOf(key) === -1 && !this.others.has(nameOf(key))) this.add(key, place)
    const number = this.numberOf(key)
    const holder = this.holders[place]
    if (holder === undefined && number !== -1) this.holders[place] = number
    else if (holder !== number || number === -1) this.contested.add(place)
    if (number === -1 || this.firsts[number] !== place) this.noteOther(nameOf(key), place)
  }

  /** The place of the key in a list that is `count` long and has this key at a place, or -1. */
  find(key: Uint8Array, count: number, keyAt: (place: number) => Uint8Array): number {
    if (key.length !== 32) return -1
    const isHere = (place: number) => place < count && (!this.contested.has(place) || equalBytes(keyAt(place), key))
    const number = this.numberOf(key)
    if (number !== -1 && isHere(this.firsts[number]!)) return this.firsts[number]!
    if (this.others.size === 0) return -1
    return this.others.get(nameOf(key))?.find(isHere) ?? -1
  }

  private noteOther(name: string, place: number): void {
    const known = this.others.get(name) ?? []
    if (!known.includes(place)) this.others.set(name, [...known, place])
  }

  private add(key: Uint8Array, place: number): void {
    const number = this.firsts.length
    if (8 * number === this.words.length) this.grow()
    readWords(key)
    this.words.set(asked, 8 * number)
    this.firsts.push(place)
    if (!this.seat(number)) this.firsts.pop()
  }

  /** Whether there was a slot near where the key hashes to. */
  private seat(number: number): boolean {
    const mask = this.slots.length - 1
    const start = hashOf(this.words, 8 * number)
    for (let i = 0; i < PROBES; i++) {
      const slot = (start + i) & mask
      if (this.slots[slot] !== 0) continue
      this.slots[slot] = number + 1
      return true
    }
    return false
  }

  /** Twice the room: half of the slots stay free. */
  private grow(): void {
    const words = new Int32Array(2 * this.words.length)
    words.set(this.words)
    this.words = words
    this.slots = new Int32Array(2 * this.slots.length)
    for (let number = 0; number < this.firsts.length; number++)
      if (!this.seat(number))
        this.noteOther(nameOf(new Uint8Array(words.slice(8 * number, 8 * number + 8).buffer)), this.firsts[number]!)
  }

  private numberOf(key: Uint8Array): number {
    readWords(key)
    const mask = this.slots.length - 1
    const start = hashOf(asked, 0)
    for (let i = 0; i < PROBES; i++) {
      const number = this.slots[(start + i) & mask]! - 1
      if (number === -1) return -1
      if (this.isAsked(8 * number)) return number
    }
    return -1
  }

  private isAsked(at: number): boolean {
    const { words } = this
    for (let i = 0; i < 8; i++) if (words[at + i] !== asked[i]) return false
    return true
  }
}

/** The key that is looked for. */
const askedBytes = new Uint8Array(32)
const asked = new Int32Array(askedBytes.buffer)
const readWords = (key: Uint8Array): void => askedBytes.set(key)

function hashOf(words: Int32Array, at: number): number {
  let hash = 0
  for (let i = at; i < at + 8; i++) {
    hash = Math.imul(hash ^ words[i]!, 0x9e3779b1)
    hash ^= hash >>> 15
  }
  return hash >>> 0
}

/** 32 bytes as 32 letters. */
const nameOf = (key: Uint8Array): string => String.fromCharCode(...key)

/** Places on top of others, which stay as they are. */
export class PlacesOver extends KeyPlaces {
  private readonly below: KeyPlaces

  constructor(below: KeyPlaces) {
    super()
    this.below = below
  }

  override find(key: Uint8Array, count: number, keyAt: (place: number) => Uint8Array): number {
    const found = super.find(key, count, keyAt)
    // What was noted here need not be in the list that is asked about.
    return found !== -1 && equalBytes(keyAt(found), key) ? found : this.below.find(key, count, keyAt)
  }
}
