import * as z from 'zod'
import { type Catalogue, catalogueSchema, contradictionsIn, modelSchema } from './catalogue.ts'

/** Thrown by `parseCatalogue`: one sentence that names the model and the field. */
class CatalogueError extends Error {
  override readonly name = 'CatalogueError'

  constructor(where: string, problem: string) {
    super(`Catalogue: ${where} ${problem}.`)
  }
}

const { memoryBytes, memorySource, vendor, line, aliases, hostLink, nvlink, bandwidth, twins } = modelSchema.shape

/** A file leaves out what most cards have in common. */
const modelInFile = modelSchema
  .omit({ memoryBytes: true, memorySource: true })
  .extend({
    vendor: vendor.default('NVIDIA'),
    line: line.default('professional'),
    aliases: aliases.default([]),
    hostLink: hostLink.default('pcie'),
    nvlink: nvlink.default(false),
    memory: z.strictObject({ bytes: memoryBytes, source: memorySource }),
    bandwidth: bandwidth.default([]),
    twins: twins.default([]),
  })
  .transform(({ memory, ...rest }) => ({ ...rest, memoryBytes: memory.bytes, memorySource: memory.source }))

const fileSchema = catalogueSchema.extend({ models: z.array(modelInFile).min(1).max(1000) })

/** Reads a catalogue from plain values (YAML or JSON, parsed elsewhere), or says which model and field is wrong. */
export function parseCatalogue(value: unknown): Catalogue {
  const parsed = fileSchema.safeParse(value, { error: problemOf })
  if (!parsed.success) throw mistake(parsed.error.issues[0]!, value)
  for (const [where, problem] of contradictionsIn(parsed.data)) throw new CatalogueError(where, problem)
  return parsed.data
}

/** What the schema itself has no words for. */
function problemOf(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'too_big') return `has too many entries; at most ${issue.maximum} are allowed`
  if (issue.code === 'too_small') return 'must name at least one model'
  if (issue.code === 'unrecognized_keys') return 'is not a known field'
  return issue.code === 'invalid_type' && issue.expected === 'array' ? 'must be a list' : 'must be a mapping'
}

function mistake(issue: z.core.$ZodIssue, file: unknown): CatalogueError {
  const key = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const [first, ...inner] = [...issue.path, ...key]
  const problem = issue.code === 'invalid_key' ? issue.issues[0]!.message : issue.message
  if (first === undefined) return new CatalogueError('the file', problem)
  const [index, ...field] = inner
  const id = first === 'models' && field.length > 0 ? idOf(file, Number(index)) : null
  const where = id === null ? pathText([first, ...inner]) : `model ${id}, field ${pathText(field)}`
  return new CatalogueError(where, problem)
}

const pathText = ([first, ...rest]: readonly PropertyKey[]): string =>
  String(first) + rest.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')

/** Of a model that has one: otherwise its place in the list must do. */
function idOf(file: unknown, index: number): string | null {
  const { models } = file as { readonly models: readonly { readonly id?: unknown }[] }
  const id = modelSchema.shape.id.safeParse(models[index]?.id)
  return id.success ? id.data : null
}
