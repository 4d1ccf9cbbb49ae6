import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { routes } from '../../apps/api/routes.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import { MAX_CERTIFICATE_BYTES } from '../../core/certificate/envelope.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { CLAIM_ANSWERS } from '../../core/identify/claimReasons.ts'
import { STATUSES } from '../../core/schedule/boxState.ts'
import { backupsIn, moveBackup, readBackup, writeBackup } from '../../drivers/store/backup.ts'
import { fault as storeFault } from '../../drivers/store/faults.ts'
import { openStore } from '../../drivers/store/openStore.ts'
import { isOk } from '../../drivers/system/askHttp.ts'
import { stopHolder } from '../../drivers/system/lockFolder.ts'
import { configFolder, stateFolder } from '../../drivers/system/xdgFolders.ts'
import type { Store } from '../../ports/store.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { holdFolder } from '../holdFolder.ts'
import type { CommandContext } from '../run.ts'
import { ownKey, readCatalogue } from '../system.ts'
import { type BoxLine, boxLineOf, boxTable, ofOneWindow, SORTS, showStatus } from './statusLines.ts'
import { apiUrl, ask, readBoxes, send } from './validatorClient.ts'
import { readValidatorConfig, type ValidatorConfig } from './validatorConfig.ts'
import { runValidator } from './validatorService.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
  readonly status?: BoxLine['status']
  readonly provider?: string
  readonly claimVerdict?: NonNullable<BoxLine['claimVerdict']>
  readonly sort?: string
}

type AddInner = (
  usage: string,
  description: string,
  work: (config: ValidatorConfig, args: readonly string[], flags: Flags, signal: AbortSignal) => Promise<number>,
) => Command

const CONFIG_NAME = 'validator.yaml'
const CONFIG = ['--config <file>', 'its settings (default: validator.yaml)'] as const

const AFTER_HELP = `
Runs until Ctrl-C or "touchstone validator stop". Without --config it takes
validator.yaml of this folder, else of ~/.config/touchstone. Start from
examples/validator.yaml, which shows every setting; docs/guides/operator.md is a
guide, docs/runbook.md all that there is to know.

Example:
  touchstone validator --config validator.yaml
then, beside it:
  touchstone validator status --config validator.yaml`

/** `touchstone validator`: the long-running validator, and what an operator does around it. */
export function addValidatorCommand(program: Command, context: CommandContext): void {
  const validator = program
    .command('validator')
    .description('keep a fleet of boxes verified around the clock and serve the results')
    .option(...CONFIG)
    .option('--json', 'print JSON (its log always is)')
    .addHelpText('after', AFTER_HELP)
  const add: AddInner = (usage, description, work) =>
    validator
      .command(usage)
      .description(description)
      .option(...CONFIG)
      .option('--json', 'print JSON')
      .action((...given: unknown[]) => {
        const command = given.at(-1) as Command
        const flags = command.opts<Flags>()
        return context.run((signal) => work(configOf(flags, context.env), command.args, flags, signal))
      })
  validator.action((flags: Flags) => context.run((signal) => start(flags, context, signal)))
  validator
    .command('stop')
    .description('end the validator that runs here')
    .option(...CONFIG)
    .option('--json', 'print JSON')
    .action((flags: Flags) => context.run((signal) => stop(flags, context, signal)))
  validator
    .command('alive <address>')
    .description('ask whether a provider is alive')
    .option('--json', 'print JSON')
    .action((address: string, flags: Flags) => context.run((signal) => alive(address, flags, context, signal)))
  addStatus(add)
  add('backup <file>', 'copy the whole store into a file', (config, args, flags) =>
    backup(config, args[0]!, flags, context),
  )
  add('restore <file>', 'fill an empty store from a backup', restore)
  add('call <method> <path> [body]', 'send it a signed request', (config, args) =>
    call(config, args, context),
  ).addHelpText('after', CALL_HELP)
}

const CALL_HELP = `
Examples:
  touchstone validator call POST /v1/boxes/box-2/verify
  touchstone validator call DELETE /v1/boxes/box-2
docs/guides/operator.md has the others, docs/spec/openapi.json all of them.`

/**
 * The settings: the file that was named, the one in this folder, or the one among this person's. Only who starts the
 * validator needs claims that can be judged.
 */
const configOf = (flags: Flags, env: NodeJS.ProcessEnv, catalogue: Catalogue | null = null): ValidatorConfig =>
  readValidatorConfig(fileOf(flags, env), catalogue)

function fileOf({ config }: Flags, env: NodeJS.ProcessEnv): string {
  const own = join(configFolder(env), CONFIG_NAME)
  return resolve(config ?? (!existsSync(CONFIG_NAME) && existsSync(own) ? own : CONFIG_NAME))
}

/** What a validator with these settings holds while it runs. */
const heldBy = (file: string, env: NodeJS.ProcessEnv): string =>
  join(stateFolder(env), 'validators', toHex(sha256(new TextEncoder().encode(file))).slice(0, 16))

async function start(flags: Flags, { env }: CommandContext, signal: AbortSignal): Promise<number> {
  const catalogue = await readCatalogue()
  const config = configOf(flags, env, catalogue)
  const file = fileOf(flags, env)
  const held = { folder: heldBy(file, env), inUse: () => fault('VALIDATOR_RUNNING', { file }) }
  return holdFolder(held, signal, async (ended) => {
    await runValidator(config, { env, catalogue }, ended)
    return EXIT.genuine
  })
}

async function stop(flags: Flags, { env }: CommandContext, signal: AbortSignal): Promise<number> {
  const file = fileOf(flags, env)
  if (!(await stopHolder(heldBy(file, env), signal))) throw fault('VALIDATOR_NOT_HERE', { file })
  print(flags.json ? JSON.stringify({ stopped: true }) : 'stopped')
  return EXIT.genuine
}

/** Another program may hold the port: whatever it answers, it moves no cursor. */
const print = (text: string): void => void process.stdout.write(`${text.replace(/[^\P{C}\n]/gu, '?')}\n`)

function addStatus(add: AddInner): void {
  add('status', 'how it and each box are doing', status)
    .addOption(new Option('--status <state>', 'only boxes in this state').choices(STATUSES))
    .option('--provider <name>', 'only boxes of this provider')
    .addOption(new Option('--claim-verdict <answer>', 'only boxes with this answer').choices(CLAIM_ANSWERS))
    .addOption(new Option('--sort <by>', 'state: what needs you first').choices(Object.keys(SORTS)).default('state'))
}

async function status(config: ValidatorConfig, _: readonly string[], flags: Flags): Promise<number> {
  const { json, status, provider, claimVerdict, sort = 'state' } = flags
  const told = await ask(routes.getStatus, {}, { config })
  const read = await readBoxes({ status, provider, claimVerdict }, { config })
  const found = config.work.cohortSize > 1 ? ofOneWindow(read) : read
  const fleet = found.map(boxLineOf).sort(SORTS[sort])
  if (json) print(JSON.stringify({ ...told, fleet }))
  else {
    const table = fleet.length === 0 ? ['no such box'] : boxTable(fleet, process.stdout.columns || 80)
    print([...showStatus(told), '', ...table].join('\n'))
  }
  return EXIT.genuine
}

/** It shows that the provider is up and what it is doing, not that its cards work. */
async function alive(address: string, { json }: Flags, { env }: CommandContext, signal: AbortSignal): Promise<number> {
  const { askProviderAlive } = await import('../boxes/openLeasedBox.ts')
  const { state, roundTripUs } = await askProviderAlive(address, ownKey(env, 'validator'), signal)
  print(
    json
      ? JSON.stringify({ roundTripUs, told: { state } })
      : `alive (${(roundTripUs / 1000).toFixed(0)} ms); as the provider says, ${DOING[state]}`,
  )
  return EXIT.genuine
}

const DOING = { free: 'free', verifying: 'being verified', leased: 'leased to a buyer' } as const

/** A running validator with an embedded store makes the copy itself: the folder is its alone. */
async function backup(
  config: ValidatorConfig,
  given: string,
  { json }: Flags,
  { env }: CommandContext,
): Promise<number> {
  const file = resolve(given)
  const made = await withStore(config, (store) => writeBackup(store, file)).catch(async (error: unknown) => {
    if (!storeFault.is(error, 'STORE_IN_USE')) throw error
    const theirs = await askForBackup(config, env)
    return { file: moveBackup(theirs.file, file), rows: theirs.rows }
  })
  print(json ? JSON.stringify(made) : `${made.rows} rows in ${made.file}`)
  return EXIT.genuine
}

/** Anybody may answer on a port. What came into our own folder since we asked is ours, and nothing else is (attack 317). */
async function askForBackup(config: ValidatorConfig, env: NodeJS.ProcessEnv) {
  const folder = resolve(config.base, config.backups)
  const before = backupsIn(folder)
  const { file, rows } = await ask(routes.makeBackup, {}, { config, signer: ownKey(env, 'validator') })
  const name = backupsIn(folder).find((name) => name === basename(file) && !before.includes(name))
  if (name === undefined) throw fault('NOT_A_VALIDATOR', { url: apiUrl(config) })
  return { file: join(folder, name), rows }
}

async function restore(config: ValidatorConfig, [file]: readonly string[], { json }: Flags): Promise<number> {
  if (!existsSync(file!)) throw fault('NO_SUCH_FILE', { file: file! })
  const rows = await withStore(config, (store) => readBackup(store, file!))
  print(json ? JSON.stringify({ rows }) : `${rows} rows restored`)
  return EXIT.genuine
}

async function withStore<T>(config: ValidatorConfig, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(config.store, config.base)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

const METHODS = ['GET', 'PUT', 'POST', 'DELETE']

async function call(config: ValidatorConfig, args: readonly string[], { env }: CommandContext): Promise<number> {
  const [method = ''] = args
  if (!METHODS.includes(method.toUpperCase()))
    throw fault('USAGE', { why: `use ${METHODS.join(', ')}, not ${method}`, help: 'touchstone validator call --help' })
  const answer = await send(args, { config, signer: ownKey(env, 'validator') }, MAX_CERTIFICATE_BYTES)
  if (answer.text === null) throw fault('NOT_A_VALIDATOR', { url: apiUrl(config) })
  print(answer.text)
  return isOk(answer) ? EXIT.genuine : EXIT.rejected
}
