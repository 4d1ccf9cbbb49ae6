import type { Command, Option } from 'commander'
import { EXIT } from './exitCodes.ts'
import { fault } from './faults.ts'
import { isRepeated } from './parseOptions.ts'
import { tellFault } from './run.ts'

/**
 * Whoever types something expects that it counts. What would be passed over is refused before anything runs: an option that
 * is given twice or beside its opposite, of which the last would count; what is empty; an option of a command before one
 * inside of it that does not take it. Under that and `refuseUnused` lies a net: no command says yes with an option that it
 * never looked at.
 */
export function holdToTyped(program: Command, json: boolean): void {
  for (const command of allOf(program)) refuseRepeated(command)
  let unread: () => Option | undefined = () => undefined
  program.hook('preAction', (_, command) => {
    if (command.args.includes('')) command.error('error: an argument is empty')
    for (let outer = command.parent; outer !== null; outer = outer.parent) handDown(outer, command)
    unread = watchReads(command)
  })
  program.hook('postAction', () => {
    const option = process.exitCode === EXIT.genuine ? unread() : undefined
    if (option === undefined) return
    process.exitCode = EXIT.usage
    tellFault(fault('OPTION_UNUSED', { option: option.flags }), json)
  })
}

const allOf = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(allOf)]

const isTyped = (command: Command, name: string): boolean => command.getOptionValueSource(name) === 'cli'

function refuseRepeated(command: Command): void {
  const given = new Set<string>()
  for (const option of command.options)
    command.on(`option:${option.name()}`, (value?: string | null) => {
      if (value === '') command.error(`error: option '${option.flags}' is empty`)
      if (given.has(option.attributeName()) && !isRepeated(option)) refuseTwice(command, option)
      given.add(option.attributeName())
    })
}

const refuseTwice = (command: Command, { flags }: Option): never =>
  command.error(`error: option '${flags}' is given more than once, or with its opposite: only one would count`)

/** `validator --config FILE status` is `validator status --config FILE`. */
function handDown(outer: Command, command: Command): void {
  for (const option of outer.options) {
    const name = option.attributeName()
    if (!isTyped(outer, name)) continue
    if (!command.options.some((one) => one.attributeName() === name))
      outer.error(`error: option '${option.flags}' does nothing for "${command.name()}"`)
    if (isTyped(command, name)) refuseTwice(outer, option)
    command.setOptionValueWithSource(name, outer.getOptionValue(name), 'cli')
  }
}

/** Faults are told by --json whatever a command does with it. A spread of all flags reads all: take them by their names. */
function watchReads(command: Command): () => Option | undefined {
  const read = new Set<string | symbol>(['json'])
  const flags = new Proxy(command.opts(), {
    get(values, name) {
      read.add(name)
      return Reflect.get(values, name)
    },
  })
  command.opts = <T>() => flags as T
  return () =>
    command.options.find((one) => {
      const name = one.attributeName()
      // What is done anyway is done as it says.
      return isTyped(command, name) && !read.has(name) && command.getOptionValue(name) !== one.defaultValue
    })
}
