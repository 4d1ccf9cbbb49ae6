import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NVIDIA_POLICY } from '../../src/core/attest/policy.ts'
import { signerFrom } from '../../src/core/bytes/ed25519.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { sealEnvelope } from '../../src/core/certificate/envelope.ts'
import { checkReportSchema, verifyReportSchema } from '../../src/core/certificate/reportSchemas.ts'
import { type CommandEnd, openCommandLine } from '../support/commandLine.ts'
import { runNode } from '../support/processes.ts'
import { resigned } from '../support/syntheticCertificate.ts'

const program = fileURLToPath(new URL('../../dist/main/touchstone.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'touchstone-cli-'))
const env = { ...process.env, TOUCHSTONE_HOME: join(folder, 'home'), NO_COLOR: '1' }
const certificate = join(folder, 'certificate.json')

const commands = openCommandLine(env)
const touchstone = (...args: string[]) => commands.run(args)
/** The same in a process of its own, which has to end. */
const alone = (...args: string[]) => runNode([program, ...args], env)
const inFolder = (name: string) => join(folder, name)

/** A run whose only part begins at once and would take a minute. */
const SMALL = '--precisions int8 --no-memory --no-bind --size 64 --openings 4 --duration 0'.split(' ')
const LASTING = [...SMALL, '--part-seconds', '60']

const SAYS_IT_ATTESTS = `const { stringify } = JSON
JSON.stringify = (value, ...how) => {
  for (const { details } of value?.devices ?? []) if (details) details.attests = true
  return stringify(value, ...how)
}`

/** Every refusal: the exit code, its reason, a next step, and never a stack trace. */
async function expectRefusal(running: Promise<CommandEnd>, status: number, code: string): Promise<void> {
  const result = await running
  const said = result.stdout + result.stderr
  expect({
    status: result.status,
    coded: said.includes(`[${code}]`),
    next: /next:| {2}now {2}/.test(said),
    said,
  }).toMatchObject({
    status,
    coded: true,
    next: true,
  })
  expect(said).not.toMatch(/\n\s+at /)
}

beforeAll(async () => {
  const made = await alone('verify', '--preset', 'tiny', '--out', certificate)
  expect(made.err + made.out).toContain('GENUINE')
  // Parts have the names that people know.
  for (const name of ['int8 speed', 'bf16 speed', 'memory', 'pair test']) expect(made.err).toContain(`: ${name}\n`)
  expect(made.code).toBe(0)
})
afterAll(async () => {
  await commands.close()
  rmSync(folder, { recursive: true, force: true })
})

test('-v and --version print the version', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  for (const args of [['-v'], ['--version']])
    expect(await touchstone(...args)).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
})

test.each([
  ['check', 'missing.json', '-v', '--claim', '8x H100'],
  ['check', 'missing.json', '--version'],
  ['check', '--help', '--claim', '8x H100'],
  ['verify', '-v'],
  ['-v', 'verify', '--claim', '8x H100'],
  ['verify', '--claim', '8x H100', '-h'],
  ['report', 'missing.json', '--html', '--json', '-v'],
])('attack 279: help or the version instead of what was asked is no yes (%j)', async (...words) => {
  const { status, stdout, stderr } = await touchstone(...words)
  expect([status, stdout + stderr]).toEqual([2, expect.stringMatching(/nothing was checked|unknown option/)])
})

test('help of a command, and of one within it, is all that was asked', async () => {
  for (const words of [
    ['--help'],
    ['check', '-h'],
    ['help', 'check'],
    ['help', '--json'],
    ['validator', 'status', '--help'],
  ])
    expect([words, (await touchstone(...words)).status]).toEqual([words, 0])
})

test('attack 278: a key in the working folder is nobody that is trusted', () => {
  const how = { cwd: folder, env: { ...env, TOUCHSTONE_HOME: 'home' }, encoding: 'utf8' } as const
  const { status, stderr } = spawnSync(process.execPath, [program, 'check', certificate], how)
  expect([status, stderr]).toEqual([2, expect.stringContaining('[HOME_NOT_WHOLE]')])
})

describe('touchstone verify', () => {
  test('leaves a certificate, keys only their owner can read, and nothing half-written', () => {
    expect(readdirSync(folder).sort()).toEqual(['certificate.json', 'home'])
    for (const key of ['validator.key', 'prover.key'])
      expect(statSync(join(folder, 'home', key)).mode & 0o777).toBe(0o600)
  })

  test('--json prints one object that a script can read', async () => {
    const { stdout, status } = await touchstone(
      'verify',
      '--preset',
      'tiny',
      '--json',
      '--out',
      inFolder('j.json'),
      '--precisions',
      'int8,fp32',
      '--summary',
      inFolder('j-summary.json'),
      '--valid-for',
      '1s',
    )
    const report = JSON.parse(stdout)
    expect(status).toBe(0)
    expect(report).toMatchObject({ format: 1, verdict: 'genuine', preset: 'tiny', judgement: { outcome: 'accepted' } })
    expect(verifyReportSchema.safeParse(report).error).toBeUndefined()
    expect(Object.keys(report.judgement.devices[0].rates)).toEqual(['int8', 'fp32'])
    expect(statSync(inFolder('j-summary.json')).size).toBeLessThanOrEqual(4096)
    const { notAfter } = JSON.parse((await touchstone('check', inFolder('j.json'), '--json', '--sample', '1')).stdout)
    expect(Date.parse(notAfter) - Date.now()).toBeLessThan(1000)
  })

  test('several devices run together, alone and linked', async () => {
    const { stdout } = await touchstone(
      'verify',
      '--preset',
      'tiny',
      '--devices',
      'cpu,cpu',
      '--json',
      '--out',
      inFolder('two.json'),
    )
    const { judgement } = JSON.parse(stdout)
    expect(judgement).toMatchObject({ outcome: 'accepted', count: { claimed: 2, established: false } })
    // Each device did its passes; what counts of them at one instant may be none for the slower one (C7).
    const { payload } = JSON.parse(readFileSync(inFolder('two.json'), 'utf8'))
    const { figures } = JSON.parse(Buffer.from(payload, 'base64').toString()).predicate
    const links = figures.filter(({ kind }: { kind: string }) => kind === 'link')
    expect(links.map(({ perSecond }: { perSecond: number }) => perSecond > 0)).toEqual([true, true])
    expect((await touchstone('check', inFolder('two.json'))).status).toBe(0)
  })

  test('options that weaken mainnet make it custom, which identifies nothing', async () => {
    const { stdout } = await touchstone(
      'verify',
      '--json',
      '--out',
      inFolder('custom.json'),
      ...SMALL,
      '--part-seconds',
      '0.1',
    )
    expect(JSON.parse(stdout)).toMatchObject({ preset: 'custom', judgement: { outcome: 'accepted' } })
    expect((await touchstone('check', inFolder('custom.json'))).status).toBe(0)
  })

  test('genuine work of another card than was sold ends with 1, in the run and in every later check', async () => {
    const out = inFolder('sold.json')
    const sold = await touchstone(
      'verify',
      '--preset',
      'tiny',
      '--devices',
      'cpu',
      '--claim',
      '1x H100 SXM',
      '--out',
      out,
    )
    expect(sold.status).toBe(1)
    // Where this machine has cards, they are said to be left out.
    const answer = /^NOT AS CLAIMED {2}sold 1 x H100 SXM, (found 1 x CPU, no GPU$|tested 1 x CPU; left out by)/
    const checked = await touchstone('check', out)
    for (const { status, stdout } of [sold, checked]) {
      const lines = stdout.trimEnd().split('\n')
      expect([status, lines[0]]).toEqual([1, expect.stringMatching(answer)])
      expect(lines.slice(-3)).toContain(lines[0])
    }
    expect(sold.stdout).not.toContain('GENUINE')
    expect(JSON.parse((await touchstone('check', out, '--json')).stdout)).toMatchObject({
      verdict: 'not-as-claimed',
      askedDevices: 'cpu',
    })
  })

  test('a GPU was sold and none can be opened: it stops after the inventory and says why', async () => {
    const out = inFolder('no-gpu.json')
    const hidden = { CUDA_VISIBLE_DEVICES: '-1' }
    const asked = commands.run(['verify', '--preset', 'tiny', '--claim', '8x H100 SXM', '--out', out], hidden)
    await expectRefusal(asked, 3, 'NO_GPU_OPENED')
    const { stderr } = await asked
    expect(stderr).toMatch(/sold as 8 x H100 SXM, but no GPU could be opened there: .*(driver|card)/)
    expect(stderr).not.toContain('part 1')
    expect(existsSync(out)).toBe(false)
  })

  test.each([
    ['--max-devices', '4', '--max-devices asks 4 of the 8 devices that were claimed'],
    ['--devices', 'cuda:0,cpu', '--devices asks 1 of the 8 devices that were claimed'],
    ['--devices', 'cuda:0,cuda:3', '--devices asks 2 of the 8 devices that were claimed'],
  ])('%s %s beside a claim of eight is refused: whoever is not asked is not missing', async (option, value, words) => {
    const asked = touchstone('verify', '--claim', '8x H100 SXM', option, value)
    await expectRefusal(asked, 2, 'FEWER_ASKED')
    expect((await asked).stderr).toContain(words)
  })

  test('a run that a lease is too short for is refused: the box would vanish in the middle of it', async () => {
    const target = `lease://127.0.0.1:1#${'ab'.repeat(32)}`
    await expectRefusal(touchstone('verify', target, '--duration', '1000'), 2, 'LONGER_THAN_LEASE')
  })

  test('a claim that names no card is refused before the run', async () => {
    const out = inFolder('typo.json')
    await expectRefusal(touchstone('verify', '--preset', 'tiny', '--claim', '8x H1000', '--out', out), 2, 'BAD_CLAIM')
    expect(readdirSync(folder)).not.toContain('typo.json')
  })

  test('unknown options and values are usage errors that say what is right', async () => {
    for (const args of [
      ['verify', '--presets', 'tiny'],
      ['verify', '--preset', 'huge'],
      ['verify', '--openings', '0'],
      ['verify', '--devices', 'amd'],
      ['verify', '--precisions', 'int4'],
      ['nonsense'],
      ['check'],
      ['check', certificate, '--trust', 'xyz'],
    ]) {
      await expectRefusal(touchstone(...args), 2, 'USAGE')
    }
  })

  test('a usage error leads to the help of the very command, and a command that is not there is named', async () => {
    for (const [line, why, next] of [
      ['verify --preset huge', 'Use tiny, devnet or mainnet.', 'touchstone verify --help'],
      ['wallet send --json', "missing required argument 'to'", 'touchstone wallet send --help'],
      ['work run train --steps x', "'--steps <count>'", 'touchstone work run train --help'],
      ['help nonsense', 'there is no command "nonsense"', 'touchstone --help'],
      ['help nonsense --json', 'there is no command', 'touchstone --help'],
      ['chain help nonsense', 'there is no command "nonsense"', 'touchstone chain --help'],
    ] as const) {
      const { status, stdout, stderr } = await touchstone(...line.split(' '))
      const told = line.includes('--json') ? JSON.parse(stdout).error : { message: stderr, nextStep: stderr }
      const [message, nextStep] = [expect.stringContaining(why), expect.stringContaining(`Run "${next}"`)]
      expect({ line, status, told }).toMatchObject({ line, status: 2, told: { message, nextStep } })
    }
  })

  test.each([
    ['check FILE --tokenizer FOLDER', 'without --result'],
    ['ledger check proof.json --depth 3', 'without --rpc'],
  ])('an option that would do nothing is refused: %s', async (line, why) => {
    expect(await touchstone(...line.split(' '))).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(new RegExp(`^error: option '--.*' does nothing ${why}`)),
    })
  })

  test('golden values and a policy are refused where no card attests, before a part is run', async () => {
    const out = inFolder('unattested.json')
    const policy = inFolder('any-policy.json')
    writeFileSync(policy, JSON.stringify(NVIDIA_POLICY))
    const asked = touchstone('verify', '--preset', 'tiny', '--devices', 'cpu', '--policy', policy, '--out', out)
    await expectRefusal(asked, 2, 'NOTHING_ATTESTS')
    expect(existsSync(out)).toBe(false)
  })

  test.each(['crl', 'collateral'])('so is --%s', async (option) => {
    writeFileSync(inFolder('list.json'), '{"tcb_info":"{}"}')
    const asked = touchstone('verify', '--preset', 'tiny', '--devices', 'cpu', `--${option}`, inFolder('list.json'))
    await expectRefusal(asked, 2, 'NOTHING_ATTESTS')
  })

  test('attack 243: a box that says it attests, and hands in nothing, is no yes to whoever brings a policy', async () => {
    const policy = inFolder('strict-policy.json')
    writeFileSync(policy, JSON.stringify({ ...NVIDIA_POLICY, rim: 'required', ocsp: 'required' }))
    // The owner of a box changes what its prover says.
    const changed = inFolder('changed.mjs')
    writeFileSync(changed, SAYS_IT_ATTESTS)
    const asked = ['verify', '--preset', 'tiny', '--devices', 'cpu', '--out', inFolder('says.json')]
    const box = { NODE_OPTIONS: `--import ${changed}` }
    const plain = await commands.run([...asked, '--json'], box)
    expect([plain.status, JSON.parse(plain.stdout)]).toMatchObject([0, { verdict: 'genuine', attested: { tier: 'C' } }])
    const judged = await commands.run([...asked, '--policy', policy, '--json'], box)
    expect([judged.status, JSON.parse(judged.stdout)]).toMatchObject([4, { verdict: 'not-established' }])
    await expectRefusal(commands.run([...asked, '--policy', policy], box), 4, 'NOT_ATTESTED')
  })

  test('attack 263: a box that its owner calls local is not this machine, whose host key nobody looks at', async () => {
    const out = inFolder('of-local.json')
    const pinned = ['--host-key', `SHA256:${'A'.repeat(43)}`]
    const asked = ['verify', 'local', '--preset', 'tiny', '--devices', 'cpu', '--out', out]
    for (const words of [asked, [...asked, ...pinned]]) await expectRefusal(touchstone(...words), 2, 'CALLED_LOCAL')
    expect(existsSync(out)).toBe(false)
    const work = ['work', 'run', 'simulate', '--size', '4', '--steps', '1', '--on', 'local', ...pinned]
    await expectRefusal(touchstone(...work, '--out', out), 2, 'CALLED_LOCAL')
  })

  test('a file that would take the place of another one is refused before anything runs', async () => {
    const [link, out] = [inFolder('a-link'), inFolder('twice.json')]
    symlinkSync(folder, link)
    const same = [out, join(link, 'twice.json'), `${folder}/./home/../twice.json`]
    const quick = ['verify', '--preset', 'tiny', '--devices', 'cpu', '--out', out]
    for (const summary of same) await expectRefusal(touchstone(...quick, '--summary', summary), 2, 'SAME_FILE')
    expect(existsSync(out)).toBe(false)
    const before = readFileSync(certificate)
    const check = ['check', certificate, '--sample', '1', '--summary']
    await expectRefusal(touchstone(...check, certificate), 2, 'SAME_FILE')
    await expectRefusal(touchstone('check', certificate, '--summary', out, '--countersign', out), 2, 'SAME_FILE')
    await expectRefusal(touchstone('report', certificate, '--html', certificate), 2, 'SAME_FILE')
    expect(readFileSync(certificate).equals(before)).toBe(true)
    // A link to it is a name of its own, which is replaced.
    symlinkSync(certificate, inFolder('to-it.json'))
    expect(await touchstone(...check, inFolder('to-it.json'))).toMatchObject({ status: 0 })
    expect(readFileSync(certificate).equals(before)).toBe(true)
  })

  test('a run that does not come to an end is ended, and leaves nothing', async () => {
    const out = inFolder('over.json')
    await expectRefusal(touchstone('verify', ...LASTING, '--limit', '1s', '--out', out), 3, 'OVER_LIMIT')
    expect(existsSync(out)).toBe(false)
  })

  test('an unwritable output is refused before anything runs', async () => {
    mkdirSync(inFolder('a-folder'))
    await expectRefusal(touchstone('verify', '--preset', 'tiny', '--out', inFolder('a-folder')), 2, 'NOT_WRITABLE')
    await expectRefusal(touchstone('verify', '--preset', 'tiny', '--out', '/proc/nowhere/x.json'), 2, 'NOT_WRITABLE')
    await expectRefusal(touchstone('verify', '--preset', 'tiny', '--out', inFolder('typo/x.json')), 2, 'NOT_WRITABLE')
    await expectRefusal(touchstone('check', certificate, '--summary', inFolder('typo/x.json')), 2, 'NOT_WRITABLE')
    expect(existsSync(inFolder('typo'))).toBe(false)
  })

  test('Ctrl-C leaves no child process and no half-written file', async () => {
    const out = inFolder('interrupted.json')
    const child = spawn(process.execPath, [program, 'verify', ...LASTING, '--out', out], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await untilSaid(child, 'part 1 of')
    const provers = childrenOf(child.pid!)
    expect(provers.length).toBeGreaterThan(0)
    child.kill('SIGINT')
    const [code] = await once(child, 'exit')
    expect(code).toBe(130)
    expect(provers.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([])
    expect(readdirSync(folder).filter((name) => name.startsWith('interrupted'))).toEqual([])
  })

  test('the second Ctrl-C ends at once what does not let itself be cleaned up, and the prover with it', async () => {
    const out = inFolder('twice.json')
    const child = spawn(process.execPath, [program, 'verify', ...LASTING, '--out', out], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await untilSaid(child, 'part 1 of')
    const provers = childrenOf(child.pid!)
    // One that hangs, so that there is something to wait for.
    for (const pid of provers) process.kill(pid, 'SIGSTOP')
    child.kill('SIGINT')
    child.kill('SIGTERM')
    const [code, signal] = await once(child, 'exit')
    expect(code).toBeNull()
    // Of two that wait, the system hands over either first.
    expect(['SIGINT', 'SIGTERM']).toContain(signal)
    await expect.poll(() => provers.filter((pid) => existsSync(`/proc/${pid}`)), { timeout: 15_000 }).toEqual([])
    expect(existsSync(out)).toBe(false)
  })

  test('kill -9 of the program ends the prover too', async () => {
    const child = spawn(process.execPath, [program, 'verify', ...LASTING, '--out', inFolder('killed.json')], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await untilSaid(child, 'part 1 of')
    const provers = childrenOf(child.pid!)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await expect.poll(() => provers.filter((pid) => existsSync(`/proc/${pid}`)), { timeout: 15_000 }).toEqual([])
  })
})

const runWithInput = (input: Uint8Array, ...args: string[]) =>
  JSON.parse(spawnSync(process.execPath, [program, ...args], { env, input, encoding: 'utf8' }).stdout)

describe('touchstone check', () => {
  test('accepts what verify wrote, whole or sampled, and says which', async () => {
    expect(await alone('check', certificate)).toMatchObject({
      code: 0,
      out: expect.stringContaining('56 of 56 openings'),
    })
    expect(runWithInput(readFileSync(certificate).subarray(0, -1), 'check', '-', '--json')).toMatchObject({
      verdict: 'genuine',
      newlineAdded: true,
    })
    const { stdout } = await touchstone('check', certificate, '--sample', '5')
    expect(stdout).toMatch(/^GENUINE BY A SAMPLE .*\n.*only 5 of 56 openings/)
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^GENUINE BY A SAMPLE/)
    expect(JSON.parse((await touchstone('check', certificate, '--json')).stdout)).toMatchObject({
      valid: true,
      openingsChecked: 56,
    })
  })

  test('says whose it is and how old, and refuses what was not asked for', async () => {
    const shown = JSON.parse(
      (await touchstone('check', certificate, '--json', '--max-age', '1h', '--sample', '1')).stdout,
    )
    const key = /^[0-9a-f]{64}$/
    expect(checkReportSchema.safeParse(shown).error).toBeUndefined()
    expect(shown).toMatchObject({ kind: 'certificate', version: 2, established: true, doubts: [], models: [null] })
    expect(shown.runId).toMatch(/^[0-9a-f]{32}$/)
    expect([shown.prover, shown.signer, ...shown.signers].every((text) => key.test(text))).toBe(true)
    expect(shown.ageSeconds).toBeLessThan(3600)
    expect(shown.catalogues.signer).toBe(shown.catalogues.reader)
    const other = '11'.repeat(32)
    await expectRefusal(touchstone('check', certificate, '--prover', other), 1, 'WRONG_PROVER')
    await expectRefusal(touchstone('check', certificate, '--signer', other), 1, 'WRONG_SIGNER')
    // Attack 202: genuine, and no card.
    const sold = await touchstone('check', certificate, '--claim', '8x H100 SXM')
    expect([sold.status, sold.stdout]).toEqual([1, expect.stringMatching(/^NOT AS CLAIMED {2}sold 8 x H100 SXM, /)])
    await expectRefusal(touchstone('check', certificate, '--claim', '8x H1000'), 2, 'BAD_CLAIM')
    const since = new Date(0).toISOString()
    const revoked = { version: 1, keys: [{ key: shown.signer, status: 'revoked', since }] }
    writeFileSync(inFolder('revoked.json'), JSON.stringify(revoked))
    await expectRefusal(touchstone('check', certificate, '--revoked', inFolder('revoked.json')), 1, 'SIGNER_REVOKED')
    writeFileSync(inFolder('bad.json'), '{}')
    await expectRefusal(
      touchstone('check', certificate, '--revoked', inFolder('bad.json')),
      2,
      'REVOCATIONS_UNREADABLE',
    )
  })

  test('a nonce is for evidence of a vendor: a certificate, which looks at none, gives no yes for it', async () => {
    await expectRefusal(touchstone('check', certificate, '--nonce', 'ab'.repeat(32)), 2, 'NOT_FOR_THIS_KIND')
  })

  test('attack 189: what a reader asks of the evidence of vendors is no yes where a certificate carries none', async () => {
    writeFileSync(inFolder('policy.json'), JSON.stringify({ ...NVIDIA_POLICY, rim: 'required', ocsp: 'required' }))
    const asked = [
      ...['policy', 'rim', 'ocsp'].map((option) => [`--${option}`, inFolder('policy.json')]),
      ['--at', '2027-12-31T00:00:00Z'],
    ]
    for (const words of asked) await expectRefusal(touchstone('check', certificate, ...words), 2, 'NOT_FOR_THIS_KIND')
  })

  test('attack 247: nor where it carries evidence in a form that nobody here can read', async () => {
    const policy = inFolder('policy.json')
    writeFileSync(policy, JSON.stringify({ ...NVIDIA_POLICY, rim: 'required', ocsp: 'required' }))
    const signer = signerFrom(
      Buffer.from(readFileSync(join(env.TOUCHSTONE_HOME, 'validator.key'), 'utf8').trim(), 'hex'),
    )
    const unread = { format: 'touchstone-evidence-99', open: ['AAAA'], close: ['AAAA'] }
    const later = inFolder('later-evidence.json')
    const carries = (predicate: Record<string, unknown>) => Object.assign(predicate, { attestation: unread })
    writeFileSync(later, resigned(readFileSync(certificate, 'latin1'), carries, signer))
    expect(await touchstone('check', later)).toMatchObject({ status: 0, stdout: expect.stringContaining('not check') })
    await expectRefusal(touchstone('check', later, '--policy', policy), 2, 'NOT_FOR_THIS_KIND')
  })

  test('a summary is not established alone, and checked with its certificate', async () => {
    const summary = inFolder('summary.json')
    expect((await touchstone('check', certificate, '--sample', '1', '--summary', summary)).status).toBe(0)
    expect(statSync(summary).size).toBeLessThanOrEqual(4096)
    await expectRefusal(touchstone('check', summary), 4, 'SUMMARY_ALONE')
    expect((await touchstone('check', summary, '--full', certificate, '--sample', '1')).status).toBe(0)
  })

  /** A second validator with a key of its own, which trusts the signer of the certificate. */
  const watcher = (...args: string[]) => {
    const signer = /"keyid":"([0-9a-f]{64})"/.exec(readFileSync(certificate, 'utf8'))![1]!
    const other = { TOUCHSTONE_HOME: join(folder, 'watcher-home') }
    return commands.run(['check', ...args, '--trust', signer], other)
  }

  test('another validator countersigns, and both signatures can be asked for', async () => {
    const both = inFolder('both.json')
    const countersigned = await watcher(certificate, '--countersign', both)
    expect(countersigned.status).toBe(0)
    expect(countersigned.stdout).toContain(`countersigned  ${both}`)
    expect((await watcher(both, '--signers', '2', '--sample', '1')).status).toBe(0)
    await expectRefusal(touchstone('check', both, '--signers', '2'), 1, 'TOO_FEW_SIGNERS')
  })

  test('attack 103: with --full it is the certificate that is signed, and only where every opening was looked at', async () => {
    const [summary, again, both] = [inFolder('of.json'), inFolder('of-again.json'), inFolder('of-both.json')]
    expect((await touchstone('check', certificate, '--sample', '1', '--summary', summary)).status).toBe(0)
    const full = [summary, '--full', certificate]
    expect((await watcher(...full, '--sample', '1', '--countersign', both)).status).toBe(2)
    expect(existsSync(both)).toBe(false)
    expect((await watcher(...full, '--countersign', both)).status).toBe(0)
    const [one, two] = [certificate, both].map((file) => JSON.parse(readFileSync(file, 'utf8')))
    expect([two.payload === one.payload, two.signatures.length]).toEqual([true, 2])
    expect((await touchstone('check', ...full, '--sample', '1', '--summary', again)).status).toBe(0)
    expect(readFileSync(again, 'utf8')).toBe(readFileSync(summary, 'utf8'))
  })

  test('refuses an unknown signer unless told to trust it', async () => {
    const other = { TOUCHSTONE_HOME: join(folder, 'other-home') }
    const run = (...args: string[]) => commands.run(['check', certificate, ...args], other)
    await expectRefusal(run(), 1, 'UNKNOWN_SIGNER')
    const signer = /"keyid":"([0-9a-f]{64})"/.exec(readFileSync(certificate, 'utf8'))![1]!
    expect((await run('--trust', signer)).status).toBe(0)
  })

  test('refuses bad files, each with its reason', async () => {
    const text = readFileSync(certificate, 'utf8')
    const files: Record<string, [string, string]> = {
      'empty.json': ['', 'EMPTY'],
      'truncated.json': [text.slice(0, text.length / 2), 'TRUNCATED'],
      'short.json': [text.slice(0, -2), 'TRUNCATED'],
      'other.json': ['{"hello":"world"}\n', 'NOT_A_CERTIFICATE'],
      'nested.json': ['['.repeat(5_000_000), 'NOT_A_CERTIFICATE'],
      'spaced.json': [text.replace('","signatures"', '", "signatures"'), 'NOT_CANONICAL'],
      'flipped.json': [text.replace(/"payload":"(.{1000})./, (_, head) => `"payload":"${head}A`), 'BAD_SIGNATURE'],
    }
    for (const [name, [content, code]] of Object.entries(files)) {
      writeFileSync(inFolder(name), content)
      await expectRefusal(touchstone('check', inFolder(name)), 1, code)
    }
    await expectRefusal(touchstone('check', inFolder('missing.json')), 2, 'NOT_READABLE')
    expect(await alone('check', inFolder('missing.json'))).toMatchObject({ code: 2 })
    expect(await alone('check', inFolder('flipped.json'))).toMatchObject({ code: 1 })
    await expectRefusal(touchstone('check', folder), 2, 'NOT_READABLE')
    const coloured = touchstone('check', inFolder('\u001b[31m\u009b2J.json'))
    await expectRefusal(coloured, 2, 'NOT_READABLE')
    expect((await coloured).stderr).not.toMatch(/[^\P{C}\n]/u)
  })

  test('refuses what a trusted signer should not have signed: another version, deep nesting', async () => {
    const signer = signerFrom(new Uint8Array(32).fill(7))
    const check = async (name: string, payload: string, code: string) => {
      writeFileSync(inFolder(name), sealEnvelope(new TextEncoder().encode(payload), signer))
      await expectRefusal(touchstone('check', inFolder(name), '--trust', toHex(signer.publicKey)), 1, code)
    }
    await check('version.json', JSON.stringify({ predicateType: 'urn:touchstone:proof-of-gpu:3' }), 'OTHER_VERSION')
    await check('deep.json', `${'{"a":'.repeat(1e6)}1${'}'.repeat(1e6)}`, 'MALFORMED')
    await check('proto.json', '{"__proto__":{"predicateType":"urn:touchstone:proof-of-gpu:1"}}', 'MALFORMED')
  })

  test('refuses a gigabyte without reading it', () => {
    const path = inFolder('huge.json')
    writeFileSync(path, '')
    truncateSync(path, 2 ** 30)
    const { stdout, status } = spawnSync(
      '/usr/bin/env',
      [
        'bash',
        '-c',
        `ulimit -v 4000000; exec "${process.execPath}" --max-old-space-size=64 "${program}" check "${path}"`,
      ],
      { env, encoding: 'utf8' },
    )
    expect({ status, stdout }).toMatchObject({ status: 1, stdout: expect.stringContaining('[TOO_LARGE]') })
  })
})

test('attack 277: a list of revoked keys that is there and cannot be read is not one that names nobody', async () => {
  const list = join(folder, 'home', 'revoked.json')
  for (const target of [inFolder('not-mounted/revoked.json'), 'revoked.json']) {
    symlinkSync(target, list)
    await expectRefusal(touchstone('check', certificate), 2, 'REVOCATIONS_UNREADABLE')
    rmSync(list)
  }
  expect((await touchstone('check', certificate)).status).toBe(0)
})

describe('attack 114: an answer that nobody reads is no yes', () => {
  const notAsClaimed = ['verify', '--preset', 'tiny', '--devices', 'cpu', '--claim', '8x H100']
  /** A program of the shell that prints the exit code of the command. */
  const codeOf = (args: readonly string[], ending: string) => {
    const command = [process.execPath, program, ...args].map((word) => `'${word}'`).join(' ')
    const script = `${command} ${ending}; echo "code \${PIPESTATUS[0]}" >&3`
    const { output } = spawnSync('bash', ['-c', script], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    return output[3]?.trim()
  }
  test.each([
    ['nothing can be written', '>/dev/full 2>/dev/full', 1],
    ['the readers have left', '2>&1 | true', 1],
  ])('not as claimed, and %s', (_, ending, code) => {
    const out = inFolder('unread.json')
    expect(codeOf([...notAsClaimed, '--out', out], ending)).toBe(`code ${code}`)
    expect(existsSync(out)).toBe(true)
    rmSync(out)
  })
  test('as it should be, and standard output is full', () => {
    expect(codeOf(['check', certificate], '>/dev/full 2>/dev/null')).toBe('code 3')
    expect(codeOf(['check', certificate], '2>/dev/null | true')).toBe('code 0')
  })
})

test('attack 119: a pipe or a device is refused, whoever names it', async () => {
  const pipe = inFolder('pipe')
  spawnSync('mkfifo', [pipe])
  await expectRefusal(touchstone('check', pipe), 2, 'NOT_READABLE')
  await expectRefusal(touchstone('check', certificate, '--revoked', pipe), 2, 'REVOCATIONS_UNREADABLE')
  await expectRefusal(touchstone('check', certificate, '--revoked', '/dev/zero'), 2, 'REVOCATIONS_UNREADABLE')
  await expectRefusal(touchstone('check', certificate, '--catalogue', pipe), 2, 'CATALOGUE_UNREADABLE')
})

/** Listens without ever closing the stream: a reader that leaves would change what the program does. */
function untilSaid(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr!.on('data', (chunk) => {
      said += chunk
      if (said.includes(text)) resolve()
    })
    child.once('exit', () => reject(new Error(`ended without saying "${text}": ${said}`)))
  })
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter((word) => word !== '')
    .map(Number)
}
