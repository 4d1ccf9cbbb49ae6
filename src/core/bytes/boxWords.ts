/** Foreign words without room in them: blanks up to the end of a row would make the rest look like a line of ours. */
const unpadded = (text: string): string => text.replace(/ +/g, ' ').trim()

/** Words of a box, whose beginning and end are seen (attacks 203, 221). Say before them that they are its own. */
export const boxWords = (text: string): string => `"${unpadded(text).replaceAll('"', "'")}"`

/** A fault in the words of a box: the code is its own too. */
export const faultWords = ({ code, text }: { readonly code: string; readonly text: string }): string =>
  boxWords(`${text} [${code}]`)
