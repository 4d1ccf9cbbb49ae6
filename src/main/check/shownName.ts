/** Blanks to the eye: letters that no font draws, and the empty Braille cell, too. */
const BLANKS = /[\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]+/gu

/**
 * A file as people are shown it. Its name may be a stranger's: it moves no cursor and draws nothing (attack 146), and has no
 * blanks in a row, up to the end of one, after which it would go on like a line of ours (attack 253). Of a URL
 * neither password nor query is told: they may open more than the file, and a report is sent to anyone.
 */
export function shownName(name: string): string {
  const { origin, pathname } =
    name.includes('://') && URL.canParse(name) ? new URL(name) : { origin: '', pathname: name }
  return `${origin}${pathname}`.replace(/\p{C}|\p{Zl}|\p{Zp}/gu, '?').replace(BLANKS, ' ')
}
