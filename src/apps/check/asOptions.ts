/** Options of `CheckOptions` whose names are not those of the command line. */
const NAMES: Readonly<Record<string, string>> = {
  'max-age': 'maxAgeSeconds',
  signer: 'requireSigners',
  signers: 'leastSigners',
}

/** A sentence for people who type, as one for people who call: `trust: [KEY]` where it says `--trust KEY`. */
export const asOptions = (text: string): string =>
  text.replace('--trust KEY', 'trust: [KEY]').replace(/--([a-z-]+)/g, (_, flag: string) => NAMES[flag] ?? flag)
