/** Times as milliseconds since 1970. Reading and writing them is pure; the clock itself is a port. */
// biome-ignore lint/style/noRestrictedGlobals: no clock is asked here
const calendar = Date

export const toMillis = (instant: string): number => calendar.parse(instant)

/** In the one spelling of certificates: UTC, milliseconds, `Z`. */
export const toInstant = (millis: number): string => new calendar(millis).toISOString()
