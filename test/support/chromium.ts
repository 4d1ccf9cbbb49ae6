import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Null, or why no browser can be driven here. */
export const noChromium = PATHS.some((path) => existsSync(path))
  ? null
  : 'no chromium: install the package of that name, or run .ci/run, which does'

if (noChromium !== null && process.env.TOUCHSTONE_REQUIRE_CHROMIUM === '1') throw new Error(noChromium)

/** A browser without a window that reaches nothing but this machine. */
export const openChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: PATHS.find((path) => existsSync(path))!,
    // Root has no sandbox in a container, and /dev/shm is small there.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  })
