import { expect, test } from 'vitest'
import { runNode } from '../../test/support/processes.ts'

const program = (name: string) => JSON.stringify(new URL(`../../dist/main/${name}.js`, import.meta.url))

/** As the single executable starts the program: `import()` in a script that is no module. */
const started = (script: string) => runNode(['-e', script], process.env)

test('attack 296: a command whose last wait nothing would end is waited for, and its limit of time holds', async () => {
  const waiting = `new Promise((end) => AbortSignal.timeout(200).addEventListener('abort', () => end(4)))`
  const script = `import(${program('run')}).then(({ commandContext }) => commandContext(false).run(() => ${waiting}))`
  expect(await started(script)).toMatchObject({ code: 4 })
})

test('attack 296: a program that ends before its command has is no yes', async () => {
  const script = `process.argv.splice(1, 0, 'touchstone', 'check', 'http://127.0.0.1:9/')
    const dns = require('node:dns').promises
    dns.lookup = () => process.exit()
    require('node:module').syncBuiltinESMExports()
    import(${program('touchstone')})`
  expect(await started(script)).toMatchObject({ code: 3 })
})
