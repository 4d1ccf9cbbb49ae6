import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import type { Catalogue, CatalogueRules, Fraction, GpuModel, PublishedFigure, Source } from './catalogue.ts'
import { checkTwins } from './checkTwins.ts'
import { fail, readChoice, readFields, readFlag, readId, readList, readPositive, readText } from './readFields.ts'

const MOST_MODELS = 1000
const MOST_FIGURES = 16
const MOST_RATE = 1e18
const MOST_BYTES = 2 ** 50
const BASES = ['datasheet', 'measured'] as const

const MODEL_FIELDS = [
  'id',
  'name',
  'vendor',
  'chip',
  'line',
  'aliases',
  'hostLink',
  'nvlink',
  'memory',
  'bandwidth',
  'rates',
  'twins',
]

/** Reads a catalogue from plain values (YAML or JSON, parsed elsewhere), or says which model and field is wrong. */
export function parseCatalogue(value: unknown): Catalogue {
  const fields = readFields(value, 'the file', ['version', 'rules', 'sources', 'models'])
  if (fields.version !== 1) fail('version', 'must be 1')
  const rules = readRules(fields.rules)
  const sources = readSources(fields.sources)
  const models = readList(fields.models, 'models', MOST_MODELS).map((entry, i) => readModel(entry, i, sources))
  if (models.length === 0) fail('models', 'must name at least one model')
  checkUniqueIds(models)
  checkTwins(models)
  return { version: 1, rules, sources, models }
}

function readRules(value: unknown): CatalogueRules {
  const fields = readFields(value, 'rules', ['rate', 'fp32', 'bandwidth'])
  return {
    rate: readFractions(fields.rate, 'rules.rate', ['datasheetConsumer', 'datasheetProfessional', 'measured']),
    fp32: readFractions(fields.fp32, 'rules.fp32', BASES),
    bandwidth: readFractions(fields.bandwidth, 'rules.bandwidth', BASES),
  }
}

function readFractions<T extends string>(value: unknown, where: string, names: readonly T[]): Record<T, Fraction> {
  const fields = readFields(value, where, names)
  const entries = names.map((name) => [name, readFraction(fields[name], `${where}.${name}`)])
  return Object.fromEntries(entries) as Record<T, Fraction>
}

function readFraction(value: unknown, where: string): Fraction {
  const fields = readFields(value, where, ['low', 'high'])
  const low = readPositive(fields.low, `${where}.low`, 2)
  const high = readPositive(fields.high, `${where}.high`, 2)
  if (low >= high) fail(where, 'must have low below high')
  return { low, high }
}

function readSources(value: unknown): Readonly<Record<string, Source>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail('sources', 'must be a mapping')
  const entries = Object.entries(value).map(([key, entry]) => [readId(key, `sources.${key}`), readSource(entry, key)])
  return Object.fromEntries(entries) as Record<string, Source>
}

function readSource(value: unknown, key: string): Source {
  const where = `sources.${key}`
  const fields = readFields(value, where, ['title', 'year', 'address'])
  const title = readText(fields.title, `${where}.title`)
  const year = readPositive(fields.year, `${where}.year`, 2100)
  if (fields.address === undefined) return { title, year }
  const address = readText(fields.address, `${where}.address`)
  if (!address.startsWith('https://') && !address.startsWith('docs/'))
    fail(`${where}.address`, 'must start with https:// or docs/')
  return { title, year, address }
}

function readModel(value: unknown, index: number, sources: Readonly<Record<string, Source>>): GpuModel {
  const fields = readFields(value, `models[${index}]`, MODEL_FIELDS)
  const id = readId(fields.id, `models[${index}].id`)
  const at = (field: string) => `model ${id}, field ${field}`
  const memory = readFields(fields.memory, at('memory'), ['bytes', 'source'])
  const model: GpuModel = {
    id,
    name: readText(fields.name, at('name')),
    vendor: readText(fields.vendor ?? 'NVIDIA', at('vendor')),
    chip: readText(fields.chip, at('chip')),
    line: readChoice(fields.line ?? 'professional', at('line'), ['consumer', 'professional']),
    aliases: readList(fields.aliases ?? [], at('aliases'), 32).map((alias) => readText(alias, at('aliases'))),
    hostLink: readChoice(fields.hostLink ?? 'pcie', at('hostLink'), ['pcie', 'c2c']),
    nvlink: readFlag(fields.nvlink ?? false, at('nvlink')),
    memoryBytes: readPositive(memory.bytes, at('memory.bytes'), MOST_BYTES),
    memorySource: readSourceKey(memory.source, at('memory.source'), sources),
    bandwidth: readFigures(fields.bandwidth ?? [], at('bandwidth'), sources),
    rates: readRates(fields.rates ?? {}, id, sources),
    twins: readList(fields.twins ?? [], at('twins'), 3).map((twin) => readId(twin, at('twins'))),
  }
  checkMeasured(model)
  return model
}

function readRates(value: unknown, id: string, sources: Readonly<Record<string, Source>>): GpuModel['rates'] {
  const fields = readFields(value, `model ${id}, field rates`, PRECISION_NAMES)
  const rates: Partial<Record<Precision, readonly PublishedFigure[]>> = {}
  for (const precision of PRECISION_NAMES) {
    if (fields[precision] === undefined) continue
    rates[precision] = readFigures(fields[precision], `model ${id}, field rates.${precision}`, sources)
  }
  if (Object.keys(rates).length === 0) fail(`model ${id}, field rates`, 'must hold at least one precision')
  return rates
}

function readFigures(
  value: unknown,
  where: string,
  sources: Readonly<Record<string, Source>>,
): readonly PublishedFigure[] {
  return readList(value, where, MOST_FIGURES).map((entry, i) => {
    const fields = readFields(entry, `${where}[${i}]`, ['value', 'basis', 'source', 'atLeast'])
    const { atLeast } = fields
    if (atLeast !== undefined && atLeast !== true) fail(`${where}[${i}].atLeast`, 'may only be true')
    return {
      ...(atLeast === true ? { atLeast } : {}),
      value: readPositive(fields.value, `${where}[${i}].value`, MOST_RATE),
      basis: readChoice(fields.basis, `${where}[${i}].basis`, BASES),
      source: readSourceKey(fields.source, `${where}[${i}].source`, sources),
    }
  })
}

function readSourceKey(value: unknown, where: string, sources: Readonly<Record<string, Source>>): string {
  const key = readText(value, where)
  if (!Object.hasOwn(sources, key)) fail(where, `names the source ${key}, which is not listed under sources`)
  return key
}

/** What a vendor prints is not what a card does: something of every model was run and published. */
function checkMeasured(model: GpuModel): void {
  const figures = [...model.bandwidth, ...Object.values(model.rates).flat()]
  if (!figures.some((figure) => figure.basis === 'measured'))
    fail(`model ${model.id}`, 'has no measured figure; at least one must be')
}

function checkUniqueIds(models: readonly GpuModel[]): void {
  const seen = new Set<string>()
  for (const { id } of models) {
    if (seen.has(id)) fail(`model ${id}, field id`, 'appears twice')
    seen.add(id)
  }
}
