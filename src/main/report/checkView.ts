import pc from 'picocolors'
import { toHex } from '../../core/bytes/hex.ts'
import { answerOfCheck, type ShownCheck } from '../check/checkAnswer.ts'
import { checkLines } from '../check/checkLines.ts'
import { element, type Html } from './html.ts'

const PLAIN = pc.createColors(false)
const COLUMNS = 96

/**
 * What a check found, for a page: the answer, why, what to do (`here`, where the page itself offers it), how to check it
 * oneself, and all that it rests on.
 */
export function checkView(shown: ShownCheck, here: string | null = null): Html[] {
  const { verdict, word, text, why, now } = answerOfCheck(shown, true)
  return [
    element('h1', { class: `verdict ${verdict}` }, word),
    element('p', { class: 'found' }, text),
    element('dl', {}, ...pair('Why', why), ...pair('Now', here ?? now), ...pair('Check it yourself', commandOf(shown))),
    ...(shown.checked.problem ? [] : [detailsOf(shown)]),
  ]
}

function detailsOf(shown: ShownCheck): Html {
  const lines = checkLines(shown, { colours: PLAIN, columns: COLUMNS, isVerbose: true }, [])
  const summary = element('summary', {}, 'Everything it rests on')
  return element('details', { open: '' }, summary, element('pre', {}, lines.join('\n')))
}

const pair = (name: string, text: string | null): Html[] =>
  text === null ? [] : [element('dt', {}, name), element('dd', {}, text)]

/** Whose key it takes is for the reader to find out: the file could name any. */
function commandOf({ file, checked }: ShownCheck): string | null {
  if (checked.kind !== 'certificate' && checked.kind !== 'summary') return null
  const signers = checked.read.signerKeys.map(toHex).join(' and ')
  // Whoever copies the line has a shell read it (attack 253).
  const typed = /^[\w./:@%+][\w./:@%+-]*$/.test(file) ? file : 'FILE'
  // Nor by npx: it runs what lies in the folder of the file, which may be the seller's (attack 371).
  return `touchstone check ${typed} --trust KEY, with the key of its signer (${signers}) taken from the signer and not from here. Get the program from its own source, never from the folder or the person that gave you the file.`
}
