import { createCheck } from '../../src/apps/check/createCheck.ts'
import { MAX_CERTIFICATE_BYTES } from '../../src/core/certificate/envelope.ts'
import type { Checked } from '../../src/core/certificate/reportOfCheck.ts'
import { inTab } from '../../src/exports/inTab.ts'
import { shownName } from '../../src/main/check/shownName.ts'
import { checkView } from '../../src/main/report/checkView.ts'
import { element, type Html } from '../../src/main/report/html.ts'

const STEPS = [
  'The file is read',
  'Form and signatures',
  'Every drawn tile is recomputed and walked to its root',
  'Figures, judgement and your own rules',
] as const

const byId = <T extends HTMLElement>(id: string, kind: new () => T): T => {
  const found = document.getElementById(id)
  if (!(found instanceof kind)) throw new Error(`the page lacks ${id}`)
  return found
}

byId('asleep', HTMLParagraphElement).remove()
const trust = byId('trust', HTMLTextAreaElement)
const claim = byId('claim', HTMLInputElement)
const drop = byId('drop', HTMLDivElement)
const chosen = byId('file', HTMLInputElement)
const steps = byId('steps', HTMLOListElement)
const progress = byId('progress', HTMLProgressElement)
const result = byId('result', HTMLElement)

const tab = inTab(() => new URL('./worker.js', import.meta.url))

/** Text stays text: no markup is ever parsed. */
function toDom(piece: Html): Node {
  if (typeof piece === 'string') return document.createTextNode(piece)
  const node = document.createElement(piece.tag)
  for (const [name, value] of Object.entries(piece.attributes)) node.setAttribute(name, value)
  node.append(...piece.children.map(toDom))
  return node
}

const show = (...pieces: readonly Html[]) => result.replaceChildren(...pieces.map(toDom))

/** How far it is: all before `at` are done. */
function showSteps(at: number, failed = false): void {
  const state = (i: number) => (i < at ? 'done' : i > at ? 'waiting' : failed ? 'failed' : 'working')
  steps.replaceChildren(...STEPS.map((text, i) => toDom(element('li', { 'data-state': state(i) }, text))))
}

const KEY = /^[0-9a-f]{64}$/i

/** Whoever is trusted is in sight: no key stands below the edge of the field (attack 368). */
function fitKeys(): void {
  trust.style.height = 'auto'
  trust.style.height = `${trust.scrollHeight + trust.offsetHeight - trust.clientHeight}px`
}

/** One a line, and no empty line. */
function showKeys(keys: readonly string[]): void {
  trust.value = keys.join('\n')
  fitKeys()
}

const writtenKeys = () => trust.value.split(/[\s,]+/).filter((key) => key !== '')

function trustedKeys(): string[] {
  const keys = writtenKeys()
  const wrong = keys.find((key) => !KEY.test(key))
  if (wrong !== undefined)
    throw new Error(`“${wrong}” is not a key: it takes 64 hex digits, as its owner tells them. Correct it above.`)
  return keys
}

const claimed = (): { claim?: string } => (claim.value.trim() === '' ? {} : { claim: claim.value })

/** A second file ends the check of the first. */
let running = new AbortController()
let last: File | null = null

async function check(file: File): Promise<void> {
  last = file
  showKeys(writtenKeys())
  running.abort()
  running = new AbortController()
  const { signal } = running
  let at = 0
  const step = (next: number) => {
    at = next
    showSteps(at)
  }
  show()
  steps.hidden = false
  progress.hidden = false
  progress.removeAttribute('value')
  step(0)
  const onProgress = (done: number, of: number) => {
    if (at < 2) step(2)
    progress.max = of
    progress.value = done
    if (done === of) step(3)
  }
  // Workers take as long to start as the file to read: both at once.
  const checker = tab.openChecker(undefined)
  const checkIt = createCheck({ ...tab, openChecker: () => checker }, (checked) => checked)
  try {
    if (file.size > MAX_CERTIFICATE_BYTES) throw new Error('the file is larger than any certificate')
    const bytes = new Uint8Array(await file.arrayBuffer())
    step(1)
    const began = performance.now()
    const checked = await checkIt(bytes, { trust: trustedKeys(), ...claimed(), onProgress, signal })
    if (signal.aborted) return
    showSteps(checked.checked.problem ? at : STEPS.length, checked.checked.problem !== null)
    showChecked(file, checked, performance.now() - began)
  } catch (error) {
    if (signal.aborted) return
    showSteps(at, true)
    const why = error instanceof Error ? error.message : 'something unknown went wrong'
    show(element('h1', { class: 'verdict rejected' }, 'NOT CHECKED'), element('p', { class: 'found' }, why))
  } finally {
    if (!signal.aborted) progress.hidden = true
    // A file that is refused before its openings never asks for them.
    await checker.then(
      (opened) => opened.close(),
      () => {},
    )
  }
}

/** An answer stands beside no other question than its own (attack 370). */
function withdraw(): void {
  running.abort()
  steps.hidden = true
  progress.hidden = true
  show()
  const file = last
  if (file === null) return
  const changed = element('p', {}, 'What you ask was changed, and has no answer yet.')
  result.append(
    toDom(changed),
    button('Check again', () => check(file)),
  )
}

function button(text: string, onClick: () => Promise<void>): HTMLButtonElement {
  const made = document.createElement('button')
  made.textContent = text
  made.addEventListener('click', () => void onClick())
  return made
}

function showChecked(file: File, checked: Checked, tookMs: number): void {
  const { problem } = checked.checked
  const took = `${checked.openings.checked} of ${checked.openings.all} openings recomputed in ${(tookMs / 1000).toFixed(1)} s`
  const signers = problem?.code === 'UNKNOWN_SIGNER' ? String(problem.got).split(' ') : []
  show(
    ...checkView(
      { file: shownName(file.name), successorOf: new Map(), ...checked },
      signers.length > 0 ? COMPARE : null,
    ),
  )
  if (problem === null) result.append(toDom(element('p', { class: 'quiet', id: 'took' }, took)))
  // One by one: who knows one signer of a file does not know the others (attack 369).
  const trustIt = (key: string) =>
    button(`I have ${key} from its owner: trust it`, () => {
      showKeys([...writtenKeys(), key])
      return check(file)
    })
  result.append(...signers.map(trustIt))
}

const COMPARE = 'Compare the key with the one that the signer told you. Where they are the same, say so below.'

chosen.addEventListener('change', () => {
  const file = chosen.files?.[0]
  if (file) void check(file)
})
// To choose the same file once more is no change to a browser.
for (const rule of [trust, claim]) {
  rule.addEventListener('input', withdraw)
  rule.addEventListener('change', () => {
    if (last) void check(last)
    else showKeys(writtenKeys())
  })
}
trust.addEventListener('input', fitKeys)
window.addEventListener('resize', fitKeys)
for (const name of ['dragenter', 'dragover', 'dragleave', 'drop'] as const)
  document.addEventListener(name, (event) => {
    event.preventDefault()
    drop.classList.toggle('over', name === 'dragenter' || name === 'dragover')
    const file = name === 'drop' ? event.dataTransfer?.files[0] : undefined
    if (file) void check(file)
  })
// A link may bring the key of a validator along: one, which is shown before it is used (attack 368).
const brought = new URLSearchParams(location.hash.slice(1)).getAll('trust')
if (brought.length === 1 && KEY.test(brought[0]!)) showKeys(brought)
else if (brought.length > 0)
  show('No key was taken from the address: it may bring one, of exactly 64 hex digits. Ask its owner for it.')
