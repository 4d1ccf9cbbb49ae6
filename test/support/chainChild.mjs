// Writes blocks to the chain in a folder until it is killed: several sizes, a state now and then, another branch now and then.
// Arguments: folder, genesis. Prints the height of every write that was confirmed.
import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { openChainStore } from '../../dist/drivers/chainStore/openChainStore.js'

const [folder, genesis] = process.argv.slice(2)
const store = await openChainStore(folder, genesis)
writeSync(1, 'ready\n')
const named = (text) => createHash('sha256').update(text).digest()
/** Bytes that anybody can work out from a hash: a torn value shows. */
const bytesOf = (id, length) => {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += 32) bytes.set(Buffer.from(id, 'hex').subarray(0, Math.min(32, length - at)), at)
  return bytes
}
for (let step = 0; ; step++) {
  const isFork = step % 7 === 6 && store.head.height > store.final.height + 1
  const from = isFork ? await store.facts((await store.facts(store.head.id)).parent) : store.head
  const blocks = []
  let parent = from
  for (let i = 0; i < (isFork ? 2 : 1 + (step % 2)); i++) {
    const id = named(`${parent.id}/${process.pid}/${step}/${i}`).toString('hex')
    const height = parent.height + 1
    const facts = { id, parent: parent.id, height, slot: height, author: genesis, win: null }
    blocks.push({ facts, bytes: bytesOf(id, 1_000 + ((height * 7_919) % 200_000)) })
    parent = facts
  }
  const states = parent.height % 5 === 0 ? [{ id: parent.id, bytes: bytesOf(parent.id, 1_000_000) }] : []
  const final = (await store.idAt(Math.max(store.final.height, from.height - 4))) ?? store.final.id
  await store.write({ blocks, states, head: parent.id, final })
  writeSync(1, `${store.head.height}\n`)
}
