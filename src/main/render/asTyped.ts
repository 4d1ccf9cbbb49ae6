/** A command as messages and help show one: in quotes, in a line or column of its own, or as the usage. */
const NAMED = /(?<=["`]|^ *| {2}|Usage: )touchstone (?=[a-z[-])/gm

/**
 * How the program is typed by whoever reads: run by npx, as in a clone, there is no `touchstone` in the path, and a command
 * that was copied from a message would not be found.
 */
export function asTyped(env: NodeJS.ProcessEnv): (text: string) => string {
  const isByNpx = env.npm_lifecycle_event === 'npx' && /^'?touchstone'?$/.test(env.npm_lifecycle_script ?? '')
  return isByNpx ? (text) => text.replace(NAMED, 'npx touchstone ') : (text) => text
}
